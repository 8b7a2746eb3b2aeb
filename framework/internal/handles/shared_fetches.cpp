#include <troupe/framework/internal/handles/shared_fetches.hpp>

#include <algorithm>
#include <cassert>

namespace troupe::internal::handles {

shared_fetches::shared_fetches(books& of, imports& counted, entry_changes& whole, pull_server& peers)
    : options_(of.options),
      objects_(of.objects),
      timers_(of.timers),
      clock_(of.clock),
      actions_(of.actions),
      entries_(of.entries),
      links_(of.links),
      imports_(counted),
      whole_(whole),
      peers_(peers),
      pulling_(of),
      callers_(of.timers) {}

// -- waiters

void shared_fetches::begin(waiter_id who, reference what, time_point until) {
  callers_.add(who, clock_.now(), until);
  add_waiter(what, outside_waiter{who});
}

void shared_fetches::cancel(waiter_id who) {
  const auto what = callers_.find(who);
  if (!what)
    return;
  remove_waiter(*what, outside_waiter{who});
  answer(outside_waiter{who}, {handle_errc::cancelled}, *what);
}

void shared_fetches::add_waiter(reference what, const waiter& who) {
  auto& which = entries_.at(what);
  if (which.state != entry_state::remote)
    return answer(who, which.state == entry_state::here ? fetch_error{} : which.loss, what);
  if (!which.fetch) {
    which.fetch = std::make_unique<fetch_state>(timers_, what);
    which.fetch->budget = budget_for(what, who);
    pulling_.take_turn(what);
  }
  bool is_new = which.fetch->waiters.insert(who).second;
  if (const auto* outside = std::get_if<outside_waiter>(&who))
    callers_.wait_for(outside->waiter, what);
  else if (auto* outer = outer_of(who); outer != nullptr && is_new)
    ++outer->awaited;
  advance(what);
}

void shared_fetches::remove_waiter(reference what, const waiter& who) {
  auto& fetch = entries_.at(what).fetch;
  if (!fetch)
    return;
  fetch->waiters.erase(who);
  entries_.touch(what);
}

/// The fetch that waits, if `who` is a fetch and still in the same attempt; otherwise null.
fetch_state* shared_fetches::outer_of(const waiter& who) {
  const auto* outer = std::get_if<outer_waiter>(&who);
  return outer != nullptr && rooms_.find(outer->room) ? entries_.at(outer->outer).fetch.get() : nullptr;
}

std::shared_ptr<import_budget> shared_fetches::budget_for(reference what, const waiter& who) {
  if (const auto* outer = std::get_if<outer_waiter>(&who))
    return entries_.at(outer->outer).fetch->budget;
  return std::make_shared<import_budget>(what);
}

bool shared_fetches::is_paid_by(const import_budget& budget, reference what, const waiter& who) {
  if (const auto* outer = std::get_if<outer_waiter>(&who))
    return entries_.at(outer->outer).fetch->budget.get() == &budget;
  return budget.root == what;
}

void shared_fetches::answer(const waiter& who, const fetch_error& error, reference what) {
  bool is_here = error.code == handle_errc::none;
  if (const auto* outside = std::get_if<outside_waiter>(&who)) {
    auto told = end_wait(outside->waiter, what);
    told.error = error;
    if (is_here) {
      entries_.refer(what); // The caller's reference.
      told.object = what;
    }
    actions_.want(told);
  } else if (const auto* outer = std::get_if<outer_waiter>(&who)) {
    if (!rooms_.find(outer->room))
      return;
    if (!is_here)
      return fail(outer->outer, error);
    seal_if_complete(outer->outer);
  } else {
    const auto& peer = std::get<peer_waiter>(who);
    if (is_here)
      peers_.serve(peer, what);
    else
      peers_.refuse(peer, error);
  }
}

/// Ends the caller's wait. The result has no outcome yet.
answer_waiter shared_fetches::end_wait(waiter_id who, reference what) {
  answer_waiter told;
  told.waiter = who;
  told.size_bytes = entries_.at(what).size_bytes;
  told.waited = clock_.now() - callers_.since(who);
  callers_.erase(who);
  return told;
}

// -- the course of a fetch

void shared_fetches::step_to(reference what, fetch_step next) {
  auto& fetch = *entries_.at(what).fetch;
  assert(may_follow(fetch.step, next));
  fetch.step = next;
  // Waiting for a turn needs no separate deadline, because fetches that have their turn have one, and so does a grace.
  bool has_patience = next != fetch_step::waiting && next != fetch_step::sealing;
  fetch.patience.set(has_patience ? end_of_patience() : never);
}

void shared_fetches::advance(reference what) {
  auto& which = entries_.at(what);
  if (which.parts)
    return entries_.touch(what); // At the end of the event: the objects that it captures may be unfinished themselves.
  if (which.fetch && which.fetch->step == fetch_step::waiting)
    pulling_.queue(what);
}

namespace {

[[nodiscard]] std::optional<original> original_of(const entry& which, const link_record& source) {
  if (which.mode != handle_mode::mine)
    return std::nullopt;
  return original{source.peer, which.name};
}

} // namespace

void shared_fetches::begin_pulls(link_record& source) {
  while (const auto what = pulling_.next(source)) {
    auto& which = entries_.at(*what);
    which.fetch->room = rooms_.open(*what);
    step_to(*what, fetch_step::making_room);
    if (source.shares_store)
      ask_for_bytes(*what); // It is handed over: needs no replica.
    else
      actions_.want(make_room{which.fetch->room, which.size_bytes, original_of(which, source), which.link});
  }
}

void shared_fetches::ask_for_bytes(reference what) {
  step_to(what, fetch_step::asking);
  pulling_.ask(what);
}

void shared_fetches::restart(reference what) {
  auto& which = entries_.at(what);
  if (!which.fetch)
    return;
  pulling_.leave_queue(what);
  if (which.fetch->step == fetch_step::waiting || which.fetch->step == fetch_step::sealing)
    return;
  auto again = std::make_unique<fetch_state>(timers_, what);
  again->budget = which.fetch->budget;
  again->failed = which.fetch->failed;
  again->pull.turn = which.fetch->pull.turn;
  again->busy_until = which.fetch->busy_until;
  again->refused = which.fetch->refused;
  again->waiters = stop(what);
  for (const auto& each : again->waiters)
    if (auto* outer = outer_of(each))
      ++outer->awaited;
  which.fetch = std::move(again);
}

/// The latest deadline of a caller that has one.
time_point shared_fetches::last_deadline(const fetch_state& fetch) const {
  auto result = time_point{};
  for (const auto& each : fetch.waiters)
    if (const auto* outside = std::get_if<outside_waiter>(&each))
      if (const auto limit = callers_.limit_of(outside->waiter); limit != never)
        result = std::max(result, limit);
  return result;
}

/// The source is busy, or has no room to restore the object from its disk. It is asked again, for `pull_patience`. If
/// it has no room, it is also asked as long as a caller has time.
void shared_fetches::begin_again_later(reference what, const fetch_error& why) {
  auto& which = entries_.at(what);
  auto& fetch = *which.fetch;
  bool is_full = why.code == handle_errc::full;
  if (fetch.busy_until <= clock_.now() && (!is_full || last_deadline(fetch) <= clock_.now()))
    return fail(what, why);
  if (fetch.busy_until == never)
    fetch.busy_until = end_of_patience();
  fetch.refused = why;
  restart(what);
  if (is_full)
    pulling_.on_full(what);
  else
    pulling_.on_busy(what);
}

std::set<waiter> shared_fetches::stop(reference what) {
  auto& which = entries_.at(what);
  if (!which.fetch)
    return {};
  pulling_.leave(what);
  if (which.fetch->room != 0) {
    rooms_.close(which.fetch->room);
    actions_.want(drop_room{which.fetch->room});
  }
  pulling_.cancel(what);
  auto fetch = std::move(which.fetch);
  fetch->patience.clear();
  if (fetch->step != fetch_step::sealing)
    fetch->budget->imports -= fetch->captured.size();
  fetch->waiters.erase(outer_waiter{what, fetch->room}); // A lying peer's object may capture itself.
  for (auto inner : fetch->captured) {
    if (auto onto = entries_.resolve(inner); entries_.at(onto).fetch) {
      entries_.at(onto).fetch->waiters.erase(outer_waiter{what, fetch->room});
      entries_.touch(onto);
    }
    entries_.unrefer(inner);
  }
  for (const auto& each : fetch->waiters)
    if (auto* outer = outer_of(each))
      --outer->awaited;
  return std::move(fetch->waiters);
}

void shared_fetches::fail(reference what, const fetch_error& error) {
  auto& fetch = entries_.at(what).fetch;
  if (!fetch || fetch->failed.code != handle_errc::none)
    return;
  fetch->failed = error;
  entries_.touch(what);
}

void shared_fetches::stop_unless_awaited(reference what) {
  if (const auto& fetch = entries_.at(what).fetch; fetch && fetch->waiters.empty())
    static_cast<void>(stop(what));
}

bool shared_fetches::is_sealing(reference what) const {
  const auto& fetch = entries_.at(what).fetch;
  return fetch && fetch->step == fetch_step::sealing;
}

/// If the fetch imported too much, waiters that only joined it, and so are not charged for it, begin it anew.
void shared_fetches::answer_failed(reference what) {
  const auto& fetch = entries_.at(what).fetch;
  if (!fetch || fetch->failed.code == handle_errc::none)
    return;
  const auto error = fetch->failed;
  const auto budget = fetch->budget;
  for (const auto& each : stop(what)) {
    if (error.imports_max != 0 && !is_paid_by(*budget, what, each))
      add_waiter(what, each);
    else
      answer(each, error, what);
  }
  entries_.touch(what);
}

void shared_fetches::finish(reference what, const object_id& place) {
  const auto waiters = stop(what);
  entries_.at(what).place = place;
  entries_.enter(what, entry_state::here);
  whole_.has_come(what);
  for (const auto& each : waiters)
    answer(each, {}, what);
  entries_.touch(what);
}

/// Proceeds as if all bytes of the unfinished object had just come. Called only at the end of an event, because
/// unfinished objects can capture each other in chains of any length.
void shared_fetches::finish_parts(reference what) {
  auto& which = entries_.at(what);
  if (!which.parts || !which.fetch || which.fetch->step != fetch_step::waiting)
    return;
  which.fetch->room = rooms_.open(what);
  step_to(what, fetch_step::receiving);
  for (auto each : *which.parts)
    entries_.refer(each);
  await_captured(what, *which.parts);
  seal_if_complete(what);
}

// -- rooms

void shared_fetches::room_made(room_id room) {
  if (const auto what = rooms_.find(room); what && entries_.at(*what).fetch->step == fetch_step::making_room)
    ask_for_bytes(*what);
}

void shared_fetches::room_failed(room_id room, handle_errc why) {
  if (const auto what = rooms_.find(room))
    fail(*what, {why});
}

bool shared_fetches::has_replica(room_id room, const object_id& place, fetch_step after) {
  const auto known = rooms_.find(room);
  if (!known)
    return false;
  const auto what = *known;
  const auto& which = entries_.at(what);
  assert(which.fetch->step == after && objects_.size_of(place) == which.size_bytes);
  static_cast<void>(after);
  rooms_.close(room);
  which.fetch->room = 0; // The object is sealed: the room must not be dropped.
  if (links_.up(which.link) != nullptr)
    imports_.release(what); // The import stays, so that the same handle, if sent again, finds the replica.
  else
    imports_.forget(what);
  finish(what, place);
  return true;
}

std::expected<room_id, violation> shared_fetches::room_for(const link_record& from, const pull_chunk& what) const {
  const auto asked = from.questions.standing_of(what.request, open_request::kind::pull);
  if (asked == link_questions::standing::never_asked)
    return std::unexpected{violation{"answered a question that was not asked"}};
  if (asked == link_questions::standing::given_up)
    return 0;
  const auto& which = entries_.at(from.questions.find(what.request)->about);
  const auto& fetch = *which.fetch;
  if (fetch.step != fetch_step::receiving || what.offset != fetch.received_bytes || what.size_bytes == 0
      || what.size_bytes > which.size_bytes - fetch.received_bytes)
    return std::unexpected{violation{"sent bytes out of order, or too many"}};
  return fetch.room;
}

bool shared_fetches::room_filled(room_id room, std::uint64_t more_bytes) {
  const auto what = rooms_.find(room);
  if (!what)
    return false;
  const auto& which = entries_.at(*what);
  auto& fetch = *which.fetch;
  assert(fetch.pull.request != 0 && more_bytes <= which.size_bytes - fetch.received_bytes);
  fetch.received_bytes += more_bytes;
  fetch.refused = {};
  if (fetch.received_bytes < which.size_bytes) {
    fetch.patience.set(end_of_patience());
    return false;
  }
  has_all_bytes(*what);
  seal_if_complete(*what);
  return true;
}

bool shared_fetches::waits_for_captured(room_id room) const {
  const auto what = rooms_.find(room);
  return what && entries_.at(*what).fetch->waits_for_captured();
}

// -- answers of the source

/// The fetch continues until all objects that it captures are here.
void shared_fetches::has_all_bytes(reference what) {
  pulling_.end(what);
  entries_.at(what).fetch->patience.set(end_of_patience());
}

void shared_fetches::seal_if_complete(reference what) {
  auto& fetch = *entries_.at(what).fetch;
  if (!fetch.waits_for_captured() || fetch.awaited > 0 || fetch.failed.code != handle_errc::none)
    return;
  std::vector<object_id> places;
  places.reserve(fetch.captured.size());
  for (auto inner : fetch.captured)
    places.push_back(entries_.at(entries_.resolve(inner)).place);
  step_to(what, fetch_step::sealing);
  actions_.want(seal_room{fetch.room, std::move(places), entries_.at(what).parts ? what : reference{}});
}

/// Takes over one reference each, and has the objects fetched. Fails the fetch with `too_many` if they are too many.
void shared_fetches::await_captured(reference what, const std::vector<reference>& captured) {
  auto& fetch = *entries_.at(what).fetch;
  fetch.captured = captured;
  fetch.budget->imports += fetch.captured.size();
  if (fetch.budget->imports > options_.fetch_imports_max)
    return fail(what, {handle_errc::too_many, fetch.budget->imports, options_.fetch_imports_max});
  ++fetch.awaited; // Until all have been asked for.
  for (auto inner : fetch.captured)
    add_waiter(entries_.resolve(inner), outer_waiter{what, fetch.room});
  --fetch.awaited;
}

violation shared_fetches::on_head(link_record& from, const pull_head& what, const std::vector<reference>& captured) {
  const auto let_go = [&] {
    for (auto inner : captured)
      entries_.unrefer(inner);
  };
  const auto* asked = from.questions.find(what.request);
  if (asked == nullptr) { // The captured handles may have ended the fetch.
    let_go();
    return {};
  }
  const auto about = asked->about;
  const auto& which = entries_.at(about);
  if (which.fetch->step != fetch_step::asking || which.size_bytes != what.size_bytes || from.shares_store) {
    let_go();
    return "answered a pull with something else";
  }
  step_to(about, fetch_step::receiving);
  await_captured(about, captured);
  if (which.fetch->failed.code == handle_errc::none && what.size_bytes == 0)
    has_all_bytes(about);
  seal_if_complete(about);
  return {};
}

violation shared_fetches::on_here(link_record& from, request_number request, reference handed_over) {
  const auto* asked = from.questions.find(request);
  if (asked == nullptr) { // The handle in the answer may have ended the fetch.
    entries_.unrefer(handed_over);
    return {};
  }
  const auto about = asked->about;
  const auto target = entries_.resolve(handed_over);
  const auto& which = entries_.at(about);
  if (entries_.at(target).size_bytes != which.size_bytes) {
    entries_.unrefer(handed_over);
    return "answered a pull with something else";
  }
  if (target != about && entries_.at(target).state == entry_state::here) {
    has_all_bytes(about);
    whole_.move_to(about, handed_over);
    return {};
  }
  entries_.unrefer(handed_over);
  from.questions.close(std::exchange(which.fetch->pull.request, 0));
  begin_again_later(about, {handle_errc::busy}); // The peer's store could not be asked.
  return {};
}

/// Requires: the question is closed.
void shared_fetches::on_refused(const link_record& from, reference what, const refused& why) {
  const auto& which = entries_.at(what);
  which.fetch->pull.request = 0;
  if (why.reason != handle_errc::busy && why.reason != handle_errc::full)
    return fail(what, {why.reason});
  begin_again_later(what, {.code = why.reason,
                           .source = from.number,
                           .was_told = true,
                           .is_behind = which.mode == handle_mode::behind,
                           .is_disk_full = why.is_disk_full});
}

// -- time

void shared_fetches::expire_waiter(waiter_id who) {
  const auto what = callers_.find(who).value();
  auto told = end_wait(who, what);
  remove_waiter(what, outside_waiter{who});
  explain_delay(told, what);
  actions_.want(told);
}

void shared_fetches::expire_patience(reference what, std::vector<reference>& patient) {
  auto& fetch = *entries_.at(what).fetch;
  fetch.patience.clear();
  if (fetch.waits_for_captured())
    patient.push_back(what);
  else
    fail(what, {handle_errc::stalled});
}

/// Finds the cause of a delay, if it is known, by following the first captured object that is not here. Requires:
/// `what` has a fetch.
void shared_fetches::explain_delay(answer_waiter& told, reference what) const {
  constexpr auto depth_max = 16; // Of captured objects; a lying peer's objects may capture each other.
  for (auto depth = 0; depth < depth_max && entries_.at(what).fetch->waits_for_captured(); ++depth) {
    const auto& captured = entries_.at(what).fetch->captured;
    auto missing =
        std::ranges::find_if(captured, [&](auto each) { return entries_.at(entries_.resolve(each)).fetch != nullptr; });
    if (missing == captured.end())
      break;
    what = entries_.resolve(*missing);
  }
  const auto& fetch = *entries_.at(what).fetch;
  told.error = fetch.refused.code == handle_errc::full ? fetch.refused : fetch_error{handle_errc::timed_out};
  told.room = fetch.room;
}

/// The deadline for captured objects of `outer`. It is extended while one of them is still being pulled; otherwise it
/// is the latest of theirs. `never` if none is making progress.
time_point shared_fetches::captured_deadline(const fetch_state& outer) const {
  auto result = time_point{};
  for (auto each : outer.captured) {
    const auto& inner = entries_.find(entries_.resolve(each))->fetch;
    if (!inner)
      continue;
    if (!inner->waits_for_captured())
      return end_of_patience();
    if (inner->patience.is_set())
      result = std::max(result, inner->patience.at());
  }
  return result > clock_.now() ? result : never;
}

void shared_fetches::judge(const std::vector<reference>& patient) {
  std::vector<reference> moving;
  for (auto each : patient) {
    const auto& fetch = entries_.at(each).fetch;
    if (!fetch || !fetch->waits_for_captured())
      continue; // Its fetch has restarted or ended with other due timers.
    if (auto until = captured_deadline(*fetch); until != never) {
      fetch->patience.set(until);
      moving.push_back(each);
    }
  }
  while (!moving.empty()) { // Upwards from there: each is visited once.
    auto inner = moving.back();
    moving.pop_back();
    for (const auto& each : entries_.at(inner).fetch->waiters) {
      auto* outer = outer_of(each);
      if (outer == nullptr || !outer->waits_for_captured() || outer->patience.is_set())
        continue;
      outer->patience.set(entries_.at(inner).fetch->patience.at());
      moving.push_back(std::get<outer_waiter>(each).outer);
    }
  }
  for (auto each : patient)
    if (const auto& fetch = entries_.at(each).fetch; fetch && fetch->waits_for_captured() && !fetch->patience.is_set())
      fail(each, {handle_errc::stalled});
}

// -- invariants

std::string_view shared_fetches::broken_invariant() const {
  std::size_t waiting = 0;
  std::string_view broken;
  entries_.for_each([&](reference what, const entry& which) {
    if (!which.fetch || !broken.empty())
      return;
    broken = broken_fetch(which, what);
    waiting += static_cast<std::size_t>(std::ranges::count_if(
        which.fetch->waiters, [](const waiter& who) { return std::holds_alternative<outside_waiter>(who); }));
  });
  if (!broken.empty())
    return broken;
  if (waiting != callers_.size() || !callers_.is_in_order())
    return "a caller that nobody will answer";
  return pulling_.broken_invariant();
}

std::string_view shared_fetches::broken_fetch(const entry& which, reference what) const {
  const auto& fetch = *which.fetch;
  using enum fetch_step;
  if (fetch.waiters.empty())
    return "a fetch that nobody waits for";
  if (fetch.failed.code != handle_errc::none)
    return "a fetch has failed and nobody was told";
  if ((fetch.step == waiting) != (fetch.room == 0) || (fetch.room != 0 && rooms_.find(fetch.room) != what))
    return "a fetch and its room do not agree";
  if (which.parts && fetch.step == waiting)
    return "an unfinished object that nobody finishes";
  if (fetch.patience.is_set() == (fetch.step == waiting || fetch.step == sealing) || !fetch.patience.is_in_order())
    return "a fetch without patience, or with too much";
  if (fetch.budget->imports > options_.fetch_imports_max || fetch.captured.size() > options_.captured_max)
    return "a fetch has imported too much";
  return broken_waiters(fetch, what);
}

std::string_view shared_fetches::broken_waiters(const fetch_state& fetch, reference what) const {
  for (const auto& each : fetch.waiters) {
    if (const auto* outside = std::get_if<outside_waiter>(&each)) {
      if (callers_.find(outside->waiter) != what)
        return "a caller that waits elsewhere";
    } else if (const auto* outer = std::get_if<outer_waiter>(&each)) {
      if (!rooms_.find(outer->room))
        return "a fetch whose outer one has ended";
    } else {
      auto [link, request] = std::get<peer_waiter>(each);
      const auto* asker = links_.up(link);
      if (asker == nullptr || !asker->servings.contains(request))
        return "a fetch for a peer that does not wait";
    }
  }
  std::set<reference> awaited;
  for (auto each : fetch.captured) {
    auto inner = entries_.resolve(each);
    const auto* found = entries_.find(inner);
    if (found != nullptr && found->fetch && found->fetch->waiters.contains(outer_waiter{what, fetch.room}))
      awaited.insert(inner);
  }
  if (awaited.size() != fetch.awaited)
    return "a fetch that waits for more, or less, than it captures";
  return {};
}

} // namespace troupe::internal::handles
