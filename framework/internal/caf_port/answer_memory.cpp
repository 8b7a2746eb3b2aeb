#include <troupe/framework/internal/caf_port/answer_memory.hpp>

#include <algorithm>
#include <utility>

#include <troupe/framework/internal/caf_port/message_view.hpp>
#include <troupe/framework/internal/caf_port/proxy.hpp>
#include <troupe/framework/node_error.hpp>

namespace troupe::internal {

namespace {

using namespace std::chrono_literals;

// What a request and a caller take, with their places in maps and lists.
constexpr std::uint64_t request_bytes = 256;
constexpr std::uint64_t caller_bytes = 256;

// The age of a request is measured by its sender, and the way here takes time.
constexpr auto age_margin = 10s;

/// While it waits, the requester counts as unanswered on its link.
void begin_waiting(const answer_memory::requester& who) {
  if (const auto* const remote = as_proxy(who.actor))
    remote->link()->begin_answer();
}
void end_waiting(const answer_memory::requester& who) {
  if (const auto* const remote = as_proxy(who.actor))
    remote->link()->end_answer();
}

void give(const answer_memory::requester& to, const caf::strong_actor_ptr& from, const caf::message& answer) {
  if (!to.actor)
    return;
  to.actor->enqueue(from, to.answer, answer, nullptr);
  end_waiting(to);
}

} // namespace

answer_memory::admission answer_memory::begin(const request_identity& request, requester from, clock::time_point now) {
  std::vector<entry> dropped; // Destroyed after the lock is released.
  requester replaced;
  const std::lock_guard guard{mutex_};
  forget_old(now);
  const auto is_forgotten = may_have_forgotten(request, now);
  auto* const known = use(request.key.caller, now);
  auto result = [&]() -> admission {
    if (known == nullptr)
      return {.what = is_forgotten ? verdict::may_be_forgotten : verdict::handle};
    auto& its = *known;
    settle(request.key.caller, its, request.settled_below);
    if (const auto found = its.requests.find(request.key.number); found != its.requests.end()) {
      if (found->second.is_answered)
        return {.what = verdict::answered, .answer = found->second.answer};
      begin_waiting(from);
      replaced = std::exchange(found->second.waiting, std::move(from));
      end_waiting(replaced);
      return {.what = verdict::awaited};
    }
    if (is_forgotten)
      return {.what = verdict::may_be_forgotten};
    if (!make_room(request_bytes, request.key.caller)) {
      its.forgotten_to = std::max(its.forgotten_to, request.key.number);
      return {.what = verdict::handle};
    }
    its.requests.emplace(request.key.number, entry{.bytes = request_bytes});
    bytes_ += request_bytes;
    if (its.place)
      idle_.erase(*std::exchange(its.place, std::nullopt));
    return {.what = verdict::handle, .is_kept = true};
  }();
  dropped.swap(dropped_);
  return result;
}

void answer_memory::answered(const request_key& request, const caf::message& answer, clock::time_point now) {
  const auto answer_bytes = request_bytes + value_memory_of(message_view{answer}, types_);
  requester waiting;
  std::vector<entry> dropped;
  {
    const std::lock_guard guard{mutex_};
    auto* const kept = find(request);
    if (kept == nullptr || kept->is_answered)
      return;
    kept->place = answered_.insert(answered_.end(), request); // First: it may throw.
    kept->is_answered = true;
    kept->answer = answer;
    kept->answered_at = now;
    bytes_ += answer_bytes - kept->bytes;
    kept->bytes = answer_bytes;
    waiting = std::exchange(kept->waiting, {});
    make_room(0, request.caller); // May forget this very answer.
    dropped.swap(dropped_);
  }
  give(waiting, waiting.asked.lock(), answer);
}

void answer_memory::abandoned(const request_key& request) {
  requester waiting;
  std::vector<entry> dropped;
  {
    const std::lock_guard guard{mutex_};
    auto* const kept = find(request);
    if (kept == nullptr || kept->is_answered)
      return;
    waiting = std::exchange(kept->waiting, {});
    auto& its = callers_.at(request.caller);
    erase(request.caller, its, its.requests.find(request.number));
    dropped.swap(dropped_);
  }
  give(waiting, nullptr,
       caf::make_message(to_caf_error({node_errc::broken_promise, "the request that was sent before this "
                                                                  "repeated one was dropped without an "
                                                                  "answer"})));
}

std::uint64_t answer_memory::bytes() const {
  const std::lock_guard guard{mutex_};
  return bytes_;
}

answer_memory::entry* answer_memory::find(const request_key& request) {
  const auto its = callers_.find(request.caller);
  if (its == callers_.end())
    return nullptr;
  const auto found = its->second.requests.find(request.number);
  return found == its->second.requests.end() ? nullptr : &found->second;
}

/// Returns null if there is no room for a new caller.
answer_memory::caller* answer_memory::use(const caller_id& who, clock::time_point now) {
  if (const auto known = callers_.find(who); known != callers_.end()) {
    known->second.last_used = now;
    if (known->second.place)
      idle_.splice(idle_.end(), idle_, *known->second.place);
    return &known->second;
  }
  if (!make_room(caller_bytes, who)) {
    forgotten_callers_to_ = now;
    return nullptr;
  }
  auto& its = callers_[who];
  its.last_used = now;
  bytes_ += caller_bytes;
  note_idle(who, its);
  return &its;
}

void answer_memory::note_idle(const caller_id& who, caller& its) {
  if (its.requests.empty() && !its.place)
    its.place = idle_.insert(idle_.end(), who);
}

/// Forgets what the caller does not need any more.
void answer_memory::settle(const caller_id& who, caller& of, std::uint64_t below) {
  of.settled_below = std::max(of.settled_below, below);
  while (!of.requests.empty() && of.requests.begin()->first < below && of.requests.begin()->second.is_answered)
    erase(who, of, of.requests.begin());
}

void answer_memory::forget_old(clock::time_point now) {
  while (!answered_.empty() && find(answered_.front())->answered_at + bounds_.age < now)
    forget_oldest_answer();
  while (!idle_.empty() && callers_.at(idle_.front()).last_used + bounds_.age < now)
    forget_caller(idle_.begin());
}

bool answer_memory::make_room(std::uint64_t bytes, const caller_id& keep) {
  const auto is_enough = [&] { return bytes <= bounds_.bytes && bytes_ <= bounds_.bytes - bytes; };
  while (!is_enough() && !answered_.empty())
    forget_oldest_answer();
  while (!is_enough() && !idle_.empty()) {
    if (idle_.front() != keep)
      forget_caller(idle_.begin());
    else if (idle_.size() == 1)
      break;
    else
      idle_.splice(idle_.end(), idle_, idle_.begin());
  }
  return is_enough();
}

void answer_memory::forget_oldest_answer() {
  const auto oldest = answered_.front();
  auto& its = callers_.at(oldest.caller);
  its.forgotten_to = std::max(its.forgotten_to, oldest.number);
  erase(oldest.caller, its, its.requests.find(oldest.number));
}

void answer_memory::forget_caller(std::list<caller_id>::iterator which) {
  const auto its = callers_.find(*which);
  forgotten_callers_to_ = std::max(forgotten_callers_to_, its->second.last_used);
  callers_.erase(its);
  idle_.erase(which);
  bytes_ -= caller_bytes;
}

void answer_memory::erase(const caller_id& who, caller& of, std::map<std::uint64_t, entry>::iterator which) {
  if (which->second.is_answered)
    answered_.erase(which->second.place);
  bytes_ -= which->second.bytes;
  dropped_.push_back(std::move(which->second));
  of.requests.erase(which);
  note_idle(who, of);
}

bool answer_memory::may_have_forgotten(const request_identity& request, clock::time_point now) const {
  const auto its = callers_.find(request.key.caller);
  if (its != callers_.end() && its->second.requests.contains(request.key.number))
    return false;
  if (its != callers_.end() && request.key.number < its->second.settled_below)
    return true; // A late copy: the caller has had its answer.
  if (request.age.count() == 0)
    return false;
  if (its != callers_.end() && request.key.number <= its->second.forgotten_to)
    return true;
  // The caller may be known anew, after it was forgotten.
  return forgotten_callers_to_ != clock::time_point::min() && now - request.age - age_margin <= forgotten_callers_to_;
}

void answer_slot::passed_on() noexcept {
  try {
    answered(caf::make_message(to_caf_error(
        {node_errc::outcome_unknown, "the request was sent before and passed on to another node, so it may have been "
                                     "handled; its answer does not pass here"})));
  } catch (...) { // No memory: a repeated request is handled again.
  }
}

} // namespace troupe::internal
