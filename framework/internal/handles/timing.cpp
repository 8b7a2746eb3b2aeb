// What is due when: deadlines of waiters, pulls, questions and graces.
#include <troupe/framework/internal/handles/ledger.hpp>

#include <algorithm>
#include <cassert>

namespace troupe::internal::handles {

timer ledger::timer_of(reference what, time_point at) {
  return {at, timer::kind::fetch, what.index, what.generation};
}

void ledger::set_timer(const timer& what) {
  timers_.insert(what);
}

void ledger::clear_timer(const timer& what) {
  timers_.erase(what);
}

/// Requires: the entry has a fetch.
void ledger::set_deadline(reference what, time_point deadline) {
  auto& fetch = *at(what).fetch;
  if (fetch.deadline != never)
    clear_timer(timer_of(what, fetch.deadline));
  fetch.deadline = deadline;
  if (deadline != never)
    set_timer(timer_of(what, deadline));
}

/// No more pulls are begun there for a while; pause_adoptions() does the same for those.
void ledger::pause_pulls(link_record& which) {
  which.pulls_are_paused = true;
  retry_later(which);
}

void ledger::pause_adoptions(link_record& which) {
  which.adoptions_are_paused = true;
  retry_later(which);
}

void ledger::retry_later(link_record& which) {
  if (which.retry != never)
    return;
  which.retry = now_ + options_.busy_pause;
  set_timer({which.retry, timer::kind::retry, which.number, 0});
}

void ledger::resume(link_record& which) {
  which.pulls_are_paused = false;
  which.adoptions_are_paused = false;
  if (which.retry != never)
    clear_timer({which.retry, timer::kind::retry, which.number, 0});
  which.retry = never;
  for (auto* turns : {&which.pulls_of_own, &which.pulls_behind})
    if (!turns->queued.empty() && turns->asked >= turns->asked_max)
      turns->asked_max = std::min(2 * turns->asked_max, options_.pulls_max);
  claim(which);
  touch(which.number);
}

std::optional<time_point> ledger::next_deadline() const {
  if (timers_.empty())
    return std::nullopt;
  return timers_.begin()->at;
}

void ledger::tick() {
  const event now{*this};
  std::vector<reference> patient;
  while (!timers_.empty() && timers_.begin()->at <= now_) {
    auto due = *timers_.begin();
    timers_.erase(timers_.begin());
    expire(due, patient);
  }
  judge(patient);
}

/// Requires: the row is out of the table. Fetches that wait for captured ones only are put to `patient`.
void ledger::expire(const timer& due, std::vector<reference>& patient) {
  switch (due.what) {
  case timer::kind::waiter: {
    auto waited = waits_.extract(due.owner).mapped();
    at(waited.what).fetch->waiters.erase(outside_waiter{due.owner});
    touch(waited.what);
    return give_up_waiting(due.owner, {handle_errc::timed_out}, waited.what);
  }
  case timer::kind::fetch: {
    reference what{static_cast<std::uint32_t>(due.owner), static_cast<std::uint32_t>(due.number)};
    auto& fetch = *at(what).fetch;
    fetch.deadline = never;
    if (fetch.waits_for_captured())
      patient.push_back(what);
    else
      fail(what, {handle_errc::stalled});
    return;
  }
  case timer::kind::grace:
    return end_grace(due.owner);
  case timer::kind::question:
    return give_up_question(links_.at(due.owner), due.number);
  case timer::kind::parked:
    return refuse_parked(links_.at(due.owner), due.number, handle_errc::unknown);
  case timer::kind::dials:
    return expire_dials(due.owner, due.at);
  case timer::kind::retry: {
    auto& link = links_.at(due.owner);
    link.retry = never;
    return resume(link);
  }
  }
}

/// Says what it was that took so long, if that is known: of what is captured the first that is not here.
/// Requires: `what` has a fetch.
void ledger::give_up_waiting(waiter_id who, const fetch_error& why, reference what) {
  constexpr auto depth_max = 16; // Of captured ones; a liar's objects may capture each other.
  for (auto depth = 0; depth < depth_max && at(what).fetch->waits_for_captured(); ++depth) {
    const auto& captured = at(what).fetch->captured;
    auto missing = std::ranges::find_if(captured, [&](auto each) { return at(resolve(each)).fetch != nullptr; });
    if (missing == captured.end())
      break;
    what = resolve(*missing);
  }
  const auto& fetch = *at(what).fetch;
  bool is_full = why.code == handle_errc::timed_out && fetch.refused.code == handle_errc::full;
  want(answer_waiter{who, is_full ? fetch.refused : why, {}, fetch.room});
}

/// Until when a fetch may wait for what it captures, judged by those alone: as long as one of them moves. `never` when
/// none does.
time_point ledger::captured_deadline(const fetch_state& outer) const {
  auto result = time_point{};
  for (auto each : outer.captured) {
    const auto& inner = find(resolve(each))->fetch;
    if (!inner)
      continue;
    if (!inner->waits_for_captured())
      return now_ + options_.pull_patience;
    if (inner->deadline != never)
      result = std::max(result, inner->deadline);
  }
  return result > now_ ? result : never;
}

/// Those whose time is over, and that wait for captured ones only: they go on as long as something moves beneath them.
/// Where nothing does, a liar has made them wait for each other.
void ledger::judge(const std::vector<reference>& patient) {
  std::vector<reference> moving;
  for (auto each : patient) {
    const auto& fetch = at(each).fetch;
    if (!fetch || !fetch->waits_for_captured())
      continue; // It has begun again, or ended, with what else was due.
    if (auto until = captured_deadline(*fetch); until != never) {
      set_deadline(each, until);
      moving.push_back(each);
    }
  }
  while (!moving.empty()) { // Upwards from there: each is looked at once.
    auto inner = moving.back();
    moving.pop_back();
    for (const auto& each : at(inner).fetch->waiters) {
      auto* outer = outer_of(each);
      if (outer == nullptr || !outer->waits_for_captured() || outer->deadline != never)
        continue;
      auto what = std::get<outer_waiter>(each).outer;
      set_deadline(what, at(inner).fetch->deadline);
      moving.push_back(what);
    }
  }
  for (auto each : patient)
    if (const auto& fetch = at(each).fetch; fetch && fetch->waits_for_captured() && fetch->deadline == never)
      fail(each, {handle_errc::stalled});
}

} // namespace troupe::internal::handles
