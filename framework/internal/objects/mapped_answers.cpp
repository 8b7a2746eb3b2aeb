#include <troupe/framework/internal/objects/mapped_answers.hpp>

#include <algorithm>
#include <utility>

#include <troupe/framework/internal/objects/stored_object.hpp>

namespace troupe::internal {

namespace {

using clock = std::chrono::steady_clock;

// How long one attempt waits for room, if the fetched bytes have been moved to disk since.
constexpr std::chrono::milliseconds turn_patience{20};

} // namespace

handles::waiter_id mapped_answers::add(core_turn held, object_source::answer then, clock::time_point until) {
  const auto who = ++last_.in(held);
  callers_.in(held).emplace(who, caller{std::move(then), until});
  return who;
}

void mapped_answers::hurry(core_turn held, handles::waiter_id who) {
  auto& callers = callers_.in(held);
  if (const auto found = callers.find(who); found != callers.end())
    found->second.until = clock::now();
}

void mapped_answers::answer(core_turn, fetch_answer what) {
  worker_.add([this, what = std::move(what)] { give(what); });
}

/// Waits for room only `turn_patience` at a time, so that other jobs get their turns.
void mapped_answers::give(const fetch_answer& what) {
  auto held = core_.lock();
  // The caller is removed only when it is answered: end(), which drops this job, answers those that remain.
  const auto& callers = callers_.in(held->turn());
  const auto found = callers.find(what.waiter);
  if (found == callers.end())
    return;
  const auto left = room_time_until(found->second.until);
  auto answer = std::expected<frame, node_error>{std::unexpect, node_errc::fetch_timed_out, ""};
  if (what.error) {
    answer = std::unexpected{*what.error};
  } else {
    held.guard().unlock();
    auto mapped = map(core_.stored(what.object), left ? std::optional{std::min(*left, turn_patience)} : std::nullopt);
    held.guard().lock();
    if (!mapped && left && *left > turn_patience && may_change(mapped.error()) && !held->is_ended()) {
      worker_.add([this, what] { give(what); });
      return;
    }
    if (mapped) {
      const auto bytes = (*mapped)->bytes();
      answer = frame{bytes, *std::move(mapped)};
    } else {
      answer = std::unexpected{std::move(mapped).error()};
    }
  }
  auto who = callers_.in(held->turn()).extract(what.waiter);
  held.guard().unlock();
  if (!who.empty())
    who.mapped().then(std::move(answer));
  if (!what.error)
    core_.lock()->drop(what.object);
}

void mapped_answers::end() {
  auto held = core_.lock();
  auto left = std::exchange(callers_.in(held->turn()), {});
  held.guard().unlock();
  for (auto& [number, who] : left)
    who.then(std::unexpected{node_error{node_errc::link_down, "the node has ended"}});
}

} // namespace troupe::internal
