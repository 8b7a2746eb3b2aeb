// Bringing bytes here: fetches, and the pulls that they make. Serving them to peers: serving.cpp.
#include <troupe/framework/internal/handles/ledger.hpp>

#include <algorithm>
#include <cassert>

namespace troupe::internal::handles {

// -- who waits

void ledger::fetch(reference what, waiter_id who, time_point deadline) {
  add_waiter(resolve(what), outside_waiter{who, deadline});
  settle();
}

void ledger::cancel_fetch(reference what, waiter_id who) {
  what = resolve(what);
  if (auto& fetch = at(what).fetch) {
    auto gone = std::erase_if(fetch->waiters, [&](const waiter& each) {
      const auto* outside = std::get_if<outside_waiter>(&each);
      return outside != nullptr && outside->waiter == who;
    });
    if (gone > 0)
      want(answer_waiter{who, {handle_errc::cancelled}, {}});
    touch(what);
  }
  settle();
}

/// Requires: `what` is resolved.
void ledger::add_waiter(reference what, const waiter& who) {
  auto& which = at(what);
  if (which.state != entry_state::remote)
    return answer(who, {which.state == entry_state::here ? handle_errc::none : handle_errc::object_lost}, what);
  if (!which.fetch) {
    which.fetch = std::make_unique<fetch_state>();
    which.fetch->budget = budget_for(what, who);
    which.fetch->deadline = now_ + options_.pull_patience;
  }
  which.fetch->waiters.insert(who);
  advance(what);
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
    want(answer_waiter{outside->waiter, error, is_here ? what : reference{}});
  } else if (const auto* outer = std::get_if<outer_waiter>(&who)) {
    if (!rooms_.contains(outer->room))
      return;
    if (!is_here)
      return fail(outer->outer, error);
    at(outer->outer).fetch->deadline = now_ + options_.pull_patience;
    seal_if_complete(outer->outer);
  } else {
    auto [number, request] = std::get<peer_waiter>(who);
    auto& link = links_.at(number);
    if (is_here)
      return start_serving(link, request, link.servings.at(request), what);
    link.servings.erase(request);
    assert(may_refuse(error.code));
    send(number, refused{request, error.code});
  }
}

// -- the course of a fetch

void ledger::step_to(fetch_state& which, fetch_step next) {
  assert(may_follow(which.step, next));
  which.step = next;
  which.deadline = now_ + options_.pull_patience;
}

/// Begins if the source can be asked.
void ledger::advance(reference what) {
  auto& which = at(what);
  auto* source = up_link(which.link);
  if (!which.fetch || which.fetch->step != fetch_step::waiting || source == nullptr)
    return;
  auto& fetch = *which.fetch;
  fetch.room = ++last_room_;
  rooms_[fetch.room] = what;
  step_to(fetch, fetch_step::making_room);
  if (source->shares_store)
    ask_for_bytes(what); // It will be handed over: no replica.
  else
    want(make_room{fetch.room, which.size_bytes});
}

void ledger::ask_for_bytes(reference what) {
  auto& which = at(what);
  step_to(*which.fetch, fetch_step::asking);
  which.fetch->request = ask(links_.at(which.link), {open_request::kind::pull, what, {}, 0, {}});
  send(which.link, pull{which.fetch->request, which.name});
}

void ledger::room_made(room_id room) {
  auto known = rooms_.find(room);
  if (known != rooms_.end() && at(known->second).fetch->step == fetch_step::making_room)
    ask_for_bytes(known->second);
  settle();
}

void ledger::room_failed(room_id room, handle_errc why) {
  assert(why == handle_errc::full || why == handle_errc::busy);
  if (auto known = rooms_.find(room); known != rooms_.end())
    fail(known->second, {why});
  settle();
}

/// The attempt ends: nothing of it is left but who waits. What is being sealed needs no source.
void ledger::restart(reference what) {
  auto& which = at(what);
  if (!which.fetch || which.fetch->step == fetch_step::waiting || which.fetch->step == fetch_step::sealing)
    return;
  auto again = std::make_unique<fetch_state>();
  again->budget = which.fetch->budget;
  again->failed = which.fetch->failed;
  again->deadline = which.fetch->deadline;
  again->waiters = stop(what);
  which.fetch = std::move(again);
}

/// Ends a fetch, without an answer to those who waited for it.
std::set<waiter> ledger::stop(reference what) {
  auto& which = at(what);
  if (!which.fetch)
    return {};
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
  which.offer.reset();
  which.adopting = 0;
  for (const auto& each : waiters)
    answer(each, {}, what);
  touch(what);
}

bool ledger::room_sealed(room_id room, const object_id& place) {
  auto known = rooms_.find(room);
  if (known == rooms_.end())
    return false;
  auto what = known->second;
  auto& which = at(what);
  assert(which.fetch->step == fetch_step::sealing);
  rooms_.erase(known);
  which.fetch->room = 0; // It is sealed: not to be dropped.
  which.place = place;
  if (up_link(which.link) != nullptr)
    release_count(which); // The import stays, so that the same handle sent again finds the replica.
  else
    forget_import(what);
  finish_fetch(what);
  settle();
  return true;
}

void ledger::seal_if_complete(reference what) {
  auto& which = at(what);
  auto& fetch = *which.fetch;
  if (fetch.step != fetch_step::receiving || fetch.received_bytes < which.size_bytes
      || fetch.failed.code != handle_errc::none)
    return;
  std::vector<object_id> places;
  for (auto inner : fetch.captured) {
    auto place = place_of(inner);
    if (!place)
      return;
    places.push_back(*place);
  }
  step_to(fetch, fetch_step::sealing);
  want(seal_room{fetch.room, std::move(places)});
}

void ledger::expire_fetches() {
  for (std::uint32_t index = 0; index < entries_.size(); ++index) {
    auto& which = entries_[index];
    if (!which.fetch)
      continue;
    std::erase_if(which.fetch->waiters, [&](const waiter& each) {
      const auto* outside = std::get_if<outside_waiter>(&each);
      if (outside == nullptr || outside->deadline > now_)
        return false;
      want(answer_waiter{outside->waiter, {handle_errc::timed_out}, {}});
      return true;
    });
    reference what{index, which.generation};
    if (which.fetch->deadline <= now_ && which.fetch->step != fetch_step::sealing)
      fail(what, {handle_errc::stalled});
    touch(what);
  }
}

// -- what the source sends

void ledger::on(link_record& from, const pull_head& what) {
  if (answers(from, what.request, open_request::kind::pull) == question::never_asked
      || what.captured.size() > options_.captured_max)
    return violated(from.number, "answered a question that was not asked, or with too much");
  auto captured = import_all(from, what.captured);
  if (!captured)
    return;
  auto asked = from.requests.find(what.request); // Not before: what came along may have ended the fetch.
  if (asked == from.requests.end()) {
    for (auto inner : *captured)
      unrefer(inner);
    return;
  }
  auto about = asked->second.about;
  auto& fetch = *at(about).fetch;
  if (fetch.step != fetch_step::asking || at(about).size_bytes != what.size_bytes || from.shares_store) {
    for (auto inner : *captured)
      unrefer(inner);
    return violated(from.number, "answered a pull with something else");
  }
  step_to(fetch, fetch_step::receiving);
  fetch.captured = *std::move(captured);
  fetch.budget->imports += fetch.captured.size();
  if (fetch.budget->imports > options_.fetch_imports_max)
    return fail(about, {handle_errc::too_many, fetch.budget->imports, options_.fetch_imports_max});
  if (what.size_bytes == 0) {
    (void)close(from, what.request);
    fetch.request = 0;
  }
  for (auto inner : fetch.captured)
    add_waiter(resolve(inner), outer_waiter{about, fetch.room});
  seal_if_complete(about);
}

void ledger::on(link_record& from, const pull_chunk& what) {
  auto asked = answers(from, what.request, open_request::kind::pull);
  if (asked == question::never_asked)
    return violated(from.number, "answered a question that was not asked");
  if (asked == question::given_up)
    return;
  auto about = from.requests.at(what.request).about;
  auto& which = at(about);
  auto& fetch = *which.fetch;
  if (fetch.step != fetch_step::receiving || what.offset != fetch.received_bytes || what.size_bytes == 0
      || what.size_bytes > which.size_bytes - fetch.received_bytes)
    return violated(from.number, "sent bytes out of order, or too many");
  want(write_room{fetch.room, what.offset, what.size_bytes});
  fetch.received_bytes += what.size_bytes;
  fetch.deadline = now_ + options_.pull_patience;
  if (fetch.received_bytes < which.size_bytes)
    return;
  (void)close(from, what.request);
  fetch.request = 0;
  seal_if_complete(about);
}

void ledger::on(link_record& from, const pull_here& what) {
  if (answers(from, what.request, open_request::kind::pull) == question::never_asked
      || what.handle.mode != handle_mode::shared)
    return violated(from.number, "answered a question that was not asked");
  auto imported = import_one(from, what.handle);
  if (!imported)
    return violated(from.number, "sent a handle that it could not send");
  auto asked = from.requests.find(what.request); // Not before: what came along may have ended the fetch.
  if (asked == from.requests.end())
    return unrefer(*imported);
  auto about = close(from, what.request).about;
  at(about).fetch->request = 0;
  auto target = resolve(*imported);
  if (target != about && at(target).state == entry_state::here)
    return move_to(about, *imported);
  unrefer(*imported);
  fail(about, {handle_errc::busy}); // The store could not be asked: it can be fetched again.
}

} // namespace troupe::internal::handles
