// Bringing bytes here: fetches, and the pulls that they make. Serving them to peers: serving.cpp.
#include <troupe/framework/internal/handles/ledger.hpp>

#include <algorithm>
#include <cassert>

namespace troupe::internal::handles {

// -- who waits

void ledger::fetch(reference what, waiter_id who, time_point deadline) {
  in_event([&] {
    bool is_new = waits_.try_emplace(who, timers_, who, deadline).second;
    assert(is_new);
    (void)is_new;
    add_waiter(resolve(what), outside_waiter{who});
  });
}

void ledger::cancel_fetch(waiter_id who) {
  in_event([&] {
    auto waited = waits_.find(who);
    if (waited == waits_.end())
      return;
    auto what = waited->second.what;
    at(what).fetch->waiters.erase(outside_waiter{who});
    touch(what);
    answer(outside_waiter{who}, {handle_errc::cancelled}, what);
  });
}

/// Requires: `what` is resolved.
void ledger::add_waiter(reference what, const waiter& who) {
  auto& which = at(what);
  if (which.state != entry_state::remote)
    return answer(who, which.state == entry_state::here ? fetch_error{} : which.loss, what);
  if (!which.fetch) {
    which.fetch = std::make_unique<fetch_state>(timers_, what);
    which.fetch->budget = budget_for(what, who);
    which.fetch->turn = ++last_turn_;
  }
  bool is_new = which.fetch->waiters.insert(who).second;
  if (const auto* outside = std::get_if<outside_waiter>(&who))
    waits_.at(outside->waiter).what = what;
  else if (auto* outer = outer_of(who); outer != nullptr && is_new)
    ++outer->awaited;
  advance(what);
}

/// The fetch that waits, if it is one, and still the same attempt.
fetch_state* ledger::outer_of(const waiter& who) {
  const auto* outer = std::get_if<outer_waiter>(&who);
  return outer != nullptr && rooms_.contains(outer->room) ? at(outer->outer).fetch.get() : nullptr;
}

std::shared_ptr<import_budget> ledger::budget_for(reference what, const waiter& who) {
  if (const auto* outer = std::get_if<outer_waiter>(&who))
    return at(outer->outer).fetch->budget;
  return std::make_shared<import_budget>(what);
}

bool ledger::is_paid_by(const import_budget& budget, reference what, const waiter& who) {
  if (const auto* outer = std::get_if<outer_waiter>(&who))
    return at(outer->outer).fetch->budget.get() == &budget;
  return budget.root == what;
}

void ledger::answer(const waiter& who, const fetch_error& error, reference what) {
  bool is_here = error.code == handle_errc::none;
  if (const auto* outside = std::get_if<outside_waiter>(&who)) {
    if (is_here)
      ++at(what).references; // The waiter's.
    waits_.erase(outside->waiter);
    want(answer_waiter{outside->waiter, error, is_here ? what : reference{}});
  } else if (const auto* outer = std::get_if<outer_waiter>(&who)) {
    if (!rooms_.contains(outer->room))
      return;
    if (!is_here)
      return fail(outer->outer, error);
    seal_if_complete(outer->outer);
  } else {
    auto [number, request] = std::get<peer_waiter>(who);
    auto& link = links_.at(number);
    if (is_here)
      return start_serving(link, request, what);
    (void)link.servings.close(request);
    assert(may_refuse(error.code));
    send(number, refused{request, error.code, error.is_disk_full});
  }
}

// -- the course of a fetch

void ledger::step_to(reference what, fetch_step next) {
  auto& fetch = *at(what).fetch;
  assert(may_follow(fetch.step, next));
  fetch.step = next;
  // Waiting for a turn has no end of its own: those whose turn it is have one, and so has a grace.
  bool has_patience = next != fetch_step::waiting && next != fetch_step::sealing;
  fetch.patience.set(has_patience ? now_ + options_.pull_patience : never);
}

/// Waits for its turn, if the source can be asked.
void ledger::advance(reference what) {
  auto& which = at(what);
  if (which.parts)
    return touch(what); // Not from here, since what it captures may be unfinished itself.
  auto* source = up_link(which.link);
  if (!which.fetch || which.fetch->step != fetch_step::waiting || which.fetch->is_queued || source == nullptr)
    return;
  turns_of(which).queue(which.fetch->turn, what);
  which.fetch->is_queued = true;
  touch(source->number);
}

/// Requires: the entry has a source.
pull_turns& ledger::turns_of(const entry& which) {
  auto& source = links_.at(which.link);
  return which.mode == handle_mode::behind ? source.pulls_behind : source.pulls_of_own;
}

namespace {

[[nodiscard]] std::optional<original> original_of(const entry& which, const link_record& source) {
  if (which.mode != handle_mode::mine)
    return std::nullopt;
  return original{source.peer, which.name};
}

} // namespace

/// As many as the source allows at a time; the others keep their turn. Where it allowed fewer because it was busy, more
/// are tried after a while: those under way may wait for something slow.
void ledger::begin_pulls(link_record& source, pull_turns& of) {
  while (!source.pause.is_for_pulls()) {
    auto turn = of.next();
    if (!turn)
      break;
    auto what = *turn;
    auto& fetch = *at(what).fetch;
    fetch.is_queued = false;
    fetch.has_slot = true;
    fetch.room = ++last_room_;
    rooms_[fetch.room] = what;
    step_to(what, fetch_step::making_room);
    if (source.shares_store)
      ask_for_bytes(what); // It will be handed over: no replica.
    else
      want(make_room{fetch.room, at(what).size_bytes, original_of(at(what), source), at(what).link});
  }
  if (of.is_held_back())
    source.pause.begin(end_of_pause());
}

void ledger::leave_queue(entry& which) {
  if (which.fetch && std::exchange(which.fetch->is_queued, false))
    turns_of(which).leave(which.fetch->turn);
}

void ledger::leave_slot(entry& which) {
  if (!std::exchange(which.fetch->has_slot, false))
    return;
  turns_of(which).end();
  touch(which.link);
}

void ledger::ask_for_bytes(reference what) {
  step_to(what, fetch_step::asking);
  auto& which = at(what);
  which.fetch->request = links_.at(which.link).questions.ask({.what = open_request::kind::pull, .about = what});
  send(which.link, pull{which.fetch->request, which.name});
}

void ledger::room_made(room_id room) {
  in_event([&] {
    auto known = rooms_.find(room);
    if (known != rooms_.end() && at(known->second).fetch->step == fetch_step::making_room)
      ask_for_bytes(known->second);
  });
}

void ledger::room_failed(room_id room, handle_errc why) {
  assert(why == handle_errc::full || why == handle_errc::busy);
  in_event([&] {
    if (auto known = rooms_.find(room); known != rooms_.end())
      fail(known->second, {why});
  });
}

room_id ledger::room_of(link_number link, request_number request) const {
  const auto* from = up_link(link);
  if (from == nullptr)
    return 0;
  const auto* asked = from->questions.find(request);
  if (asked == nullptr || asked->what != open_request::kind::pull)
    return 0;
  const auto& fetch = find(asked->about)->fetch;
  return fetch->step == fetch_step::receiving ? fetch->room : 0;
}

/// The attempt ends: nothing of it is left but who waits, and its turn. What is being sealed needs no source.
void ledger::restart(reference what) {
  auto& which = at(what);
  leave_queue(which);
  if (!which.fetch || which.fetch->step == fetch_step::waiting || which.fetch->step == fetch_step::sealing)
    return;
  auto again = std::make_unique<fetch_state>(timers_, what);
  again->budget = which.fetch->budget;
  again->failed = which.fetch->failed;
  again->turn = which.fetch->turn;
  again->busy_until = which.fetch->busy_until;
  again->refused = which.fetch->refused;
  again->waiters = stop(what);
  for (const auto& each : again->waiters)
    if (auto* outer = outer_of(each))
      ++outer->awaited;
  which.fetch = std::move(again);
}

/// Of those that have one.
time_point ledger::last_deadline(const fetch_state& fetch) const {
  auto result = time_point{};
  for (const auto& each : fetch.waiters)
    if (const auto* outside = std::get_if<outside_waiter>(&each))
      if (const auto& limit = waits_.at(outside->waiter).limit; limit.is_set())
        result = std::max(result, limit.at());
  return result;
}

/// The source has too much to do, or no room to bring back what lies on its disk: it is asked again for some time, and
/// for room as long as somebody has time.
void ledger::begin_again_later(reference what, const fetch_error& why) {
  auto& which = at(what);
  auto& fetch = *which.fetch;
  bool is_full = why.code == handle_errc::full;
  if (fetch.busy_until <= now_ && (!is_full || last_deadline(fetch) <= now_))
    return fail(what, why);
  if (fetch.busy_until == never)
    fetch.busy_until = now_ + options_.pull_patience;
  fetch.refused = why;
  restart(what);
  auto& turns = turns_of(which);
  if (is_full) { // What else it has may lie in memory: that comes first.
    which.fetch->turn = ++last_turn_;
    links_.at(which.link).pause.begin_for_pulls(end_of_pause());
    return advance(what);
  }
  turns.was_busy();
  if (turns.asked() == 0) // Else the next that ends makes room there.
    links_.at(which.link).pause.begin_for_pulls(end_of_pause());
  advance(what);
}

/// Ends a fetch, without an answer to those who waited for it.
std::set<waiter> ledger::stop(reference what) {
  auto& which = at(what);
  if (!which.fetch)
    return {};
  which.fetch->patience.clear();
  leave_queue(which);
  leave_slot(which);
  auto fetch = std::move(which.fetch);
  if (fetch->room != 0) {
    rooms_.erase(fetch->room);
    want(drop_room{fetch->room});
  }
  if (fetch->request != 0) {
    auto& source = links_.at(which.link);
    (void)close(source, fetch->request);
    if (source.phase == link_phase::up)
      send(source.number, cancel{fetch->request});
  }
  if (fetch->step != fetch_step::sealing)
    fetch->budget->imports -= fetch->captured.size();
  fetch->waiters.erase(outer_waiter{what, fetch->room}); // A liar's object may capture itself.
  for (auto inner : fetch->captured) {
    if (auto onto = resolve(inner); at(onto).fetch) {
      at(onto).fetch->waiters.erase(outer_waiter{what, fetch->room});
      touch(onto);
    }
    unrefer(inner);
  }
  for (const auto& each : fetch->waiters)
    if (auto* outer = outer_of(each))
      --outer->awaited;
  return std::move(fetch->waiters);
}

/// All who wait are told when the event ends.
void ledger::fail(reference what, const fetch_error& error) {
  auto& fetch = at(what).fetch;
  if (!fetch || fetch->failed.code != handle_errc::none)
    return;
  fetch->failed = error;
  touch(what);
}

/// Who only joined a fetch that imported too much for another begins it anew.
void ledger::answer_failed(reference what) {
  auto error = at(what).fetch->failed;
  auto budget = at(what).fetch->budget;
  for (const auto& each : stop(what)) {
    if (error.imports_max != 0 && !is_paid_by(*budget, what, each))
      add_waiter(what, each);
    else
      answer(each, error, what);
  }
  touch(what);
}

/// The bytes are at `place`: all who wait get their answer. Invariant 1 of `entry` holds from here on.
void ledger::finish_fetch(reference what) {
  auto waiters = stop(what);
  auto& which = at(what);
  enter(which, entry_state::here);
  forget_parts(what);
  leave_adoption(what);
  set_offer(what, std::nullopt);
  for (const auto& each : waiters)
    answer(each, {}, what);
  touch(what);
}

bool ledger::room_found(room_id room, const object_id& place) {
  return has_replica(room, place, fetch_step::making_room);
}

bool ledger::room_sealed(room_id room, const object_id& place) {
  return has_replica(room, place, fetch_step::sealing);
}

bool ledger::has_replica(room_id room, const object_id& place, fetch_step after) {
  return in_event([&] {
    auto known = rooms_.find(room);
    if (known == rooms_.end())
      return false;
    auto what = known->second;
    auto& which = at(what);
    assert(which.fetch->step == after && objects_.size_of(place) == which.size_bytes);
    (void)after;
    rooms_.erase(known);
    which.fetch->room = 0; // It is sealed: not to be dropped.
    which.place = place;
    if (up_link(which.link) != nullptr)
      release_count(which); // The import stays, so that the same handle sent again finds the replica.
    else
      forget_import(what);
    finish_fetch(what);
    return true;
  });
}

/// The pull is over, and makes room for the next; the fetch goes on until all that it captures is here.
void ledger::has_all_bytes(reference what) {
  auto& which = at(what);
  (void)close(links_.at(which.link), std::exchange(which.fetch->request, 0));
  turns_of(which).went_well();
  leave_slot(which);
  which.fetch->patience.set(now_ + options_.pull_patience);
}

void ledger::seal_if_complete(reference what) {
  auto& fetch = *at(what).fetch;
  if (!fetch.waits_for_captured() || fetch.awaited > 0 || fetch.failed.code != handle_errc::none)
    return;
  std::vector<object_id> places;
  places.reserve(fetch.captured.size());
  for (auto inner : fetch.captured)
    places.push_back(place_of(inner).value());
  step_to(what, fetch_step::sealing);
  want(seal_room{fetch.room, std::move(places), at(what).parts ? what : reference{}});
}

// -- what the source sends

void ledger::on(link_record& from, const pull_head& what) {
  if (from.questions.standing_of(what.request, open_request::kind::pull) == link_questions::standing::never_asked
      || what.captured.size() > options_.captured_max)
    return violated(from.number, "answered a question that was not asked, or with too much");
  auto captured = import_all(from, what.captured, came::in_answer);
  if (!captured)
    return;
  const auto* asked = from.questions.find(what.request); // Not before: what came along may have ended the fetch.
  if (asked == nullptr) {
    for (auto inner : *captured)
      unrefer(inner);
    return;
  }
  auto about = asked->about;
  auto& fetch = *at(about).fetch;
  if (fetch.step != fetch_step::asking || at(about).size_bytes != what.size_bytes || from.shares_store) {
    for (auto inner : *captured)
      unrefer(inner);
    return violated(from.number, "answered a pull with something else");
  }
  step_to(about, fetch_step::receiving);
  await_captured(about, *std::move(captured));
  if (fetch.failed.code == handle_errc::none && what.size_bytes == 0)
    has_all_bytes(about);
  seal_if_complete(about);
}

/// Takes over one reference each, and has them brought here. Fails with `too_many`.
void ledger::await_captured(reference what, std::vector<reference> captured) {
  auto& fetch = *at(what).fetch;
  fetch.captured = std::move(captured);
  fetch.budget->imports += fetch.captured.size();
  if (fetch.budget->imports > options_.fetch_imports_max)
    return fail(what, {handle_errc::too_many, fetch.budget->imports, options_.fetch_imports_max});
  ++fetch.awaited; // Until all have been asked for.
  for (auto inner : fetch.captured)
    add_waiter(resolve(inner), outer_waiter{what, fetch.room});
  --fetch.awaited;
}

void ledger::on(link_record& from, const pull_chunk& what) {
  auto asked = from.questions.standing_of(what.request, open_request::kind::pull);
  if (asked == link_questions::standing::never_asked)
    return violated(from.number, "answered a question that was not asked");
  if (asked == link_questions::standing::given_up)
    return;
  auto about = from.questions.find(what.request)->about;
  auto& which = at(about);
  auto& fetch = *which.fetch;
  if (fetch.step != fetch_step::receiving || what.offset != fetch.received_bytes || what.size_bytes == 0
      || what.size_bytes > which.size_bytes - fetch.received_bytes)
    return violated(from.number, "sent bytes out of order, or too many");
  fetch.received_bytes += what.size_bytes;
  fetch.refused = {};
  if (fetch.received_bytes < which.size_bytes)
    return fetch.patience.set(now_ + options_.pull_patience);
  has_all_bytes(about);
  seal_if_complete(about);
}

void ledger::on(link_record& from, const pull_here& what) {
  if (from.questions.standing_of(what.request, open_request::kind::pull) == link_questions::standing::never_asked
      || what.handle.mode != handle_mode::shared)
    return violated(from.number, "answered a question that was not asked");
  auto imported = import_one(from, what.handle, came::in_answer);
  if (!imported)
    return violated(from.number, "sent a handle that it could not send");
  const auto* asked = from.questions.find(what.request); // Not before: what came along may have ended the fetch.
  if (asked == nullptr)
    return unrefer(*imported);
  auto about = asked->about;
  auto target = resolve(*imported);
  if (at(target).size_bytes != at(about).size_bytes) {
    unrefer(*imported);
    return violated(from.number, "answered a pull with something else");
  }
  if (target != about && at(target).state == entry_state::here) {
    has_all_bytes(about);
    return move_to(about, *imported);
  }
  unrefer(*imported);
  (void)close(from, std::exchange(at(about).fetch->request, 0));
  begin_again_later(about, {handle_errc::busy}); // The store could not be asked.
}

} // namespace troupe::internal::handles
