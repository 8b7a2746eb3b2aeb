// What is due when: deadlines of waiters, pulls, questions and graces.
#include <troupe/framework/internal/handles/ledger.hpp>

#include <algorithm>
#include <cassert>

namespace troupe::internal::handles {

void ledger::resume(link_record& which) {
  which.pause.end();
  which.pulls_of_own.try_more();
  which.pulls_behind.try_more();
  claim(which);
  touch(which.number);
}

std::optional<time_point> ledger::next_deadline() const {
  return timers_.next();
}

void ledger::tick() {
  in_event([&] {
    std::vector<reference> patient;
    while (auto due = timers_.take_due(now_))
      expire(*due, patient);
    judge(patient);
  });
}

/// Fetches that wait for captured ones only are put to `patient`.
void ledger::expire(const timer& due, std::vector<reference>& patient) {
  switch (due.what) {
  case timer::kind::waiter: {
    auto what = waits_.extract(due.owner).mapped().what;
    at(what).fetch->waiters.erase(outside_waiter{due.owner});
    touch(what);
    return give_up_waiting(due.owner, {handle_errc::timed_out}, what);
  }
  case timer::kind::fetch: {
    reference what{static_cast<std::uint32_t>(due.owner), static_cast<std::uint32_t>(due.number)};
    auto& fetch = *at(what).fetch;
    fetch.patience.clear();
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
    links_.at(due.owner).parked.take(due.number);
    return send(due.owner, refused{due.number, handle_errc::unknown});
  case timer::kind::dials:
    return dials_.expire(due.owner, due.at);
  case timer::kind::retry:
    return resume(links_.at(due.owner));
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
    if (inner->patience.is_set())
      result = std::max(result, inner->patience.at());
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
      fetch->patience.set(until);
      moving.push_back(each);
    }
  }
  while (!moving.empty()) { // Upwards from there: each is looked at once.
    auto inner = moving.back();
    moving.pop_back();
    for (const auto& each : at(inner).fetch->waiters) {
      auto* outer = outer_of(each);
      if (outer == nullptr || !outer->waits_for_captured() || outer->patience.is_set())
        continue;
      outer->patience.set(at(inner).fetch->patience.at());
      moving.push_back(std::get<outer_waiter>(each).outer);
    }
  }
  for (auto each : patient)
    if (const auto& fetch = at(each).fetch; fetch && fetch->waits_for_captured() && !fetch->patience.is_set())
      fail(each, {handle_errc::stalled});
}

} // namespace troupe::internal::handles
