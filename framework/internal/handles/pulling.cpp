// Bringing bytes here (fetches) and serving them to peers.
#include <troupe/framework/internal/handles/ledger.hpp>

#include <algorithm>
#include <cassert>

namespace troupe::internal::handles {

// -- who waits

void ledger::fetch(reference what, waiter_id who, time_point deadline) {
  add_waiter(resolve(what), outside_waiter{who, deadline});
}

void ledger::cancel_fetch(reference what, waiter_id who) {
  what = resolve(what);
  auto& which = at(what);
  if (!which.fetch)
    return;
  auto gone = std::erase_if(which.fetch->waiters, [&](const waiter& each) {
    const auto* outside = std::get_if<outside_waiter>(&each);
    return outside != nullptr && outside->waiter == who;
  });
  if (gone > 0)
    want(answer_waiter{who, handle_errc::cancelled, {}});
  stop_if_unwanted(what);
}

/// Nobody waits any more.
void ledger::stop_if_unwanted(reference what) {
  auto& which = at(what);
  if (which.fetch && which.fetch->waiters.empty()) {
    stop(which);
    settle_or_lose(what);
  }
}

/// After the end of a fetch, which may have been all that kept an entry from being lost: its source may have gone while
/// the replica was being sealed.
void ledger::settle_or_lose(reference what) {
  const auto& which = at(what);
  if (which.wanted() && which.state == entry_state::remote && which.link == 0 && which.adopting == 0)
    lose(what);
  else
    settle(what);
}

/// Requires: `what` is resolved.
void ledger::add_waiter(reference what, const waiter& who) {
  auto& which = at(what);
  if (which.state != entry_state::remote)
    return answer(who, which.state == entry_state::here ? handle_errc::none : handle_errc::object_lost, what);
  if (!which.fetch) {
    which.fetch = std::make_unique<fetch_state>();
    which.fetch->deadline = now_ + options_.pull_patience;
  }
  which.fetch->waiters.push_back(who);
  advance(what);
}

void ledger::answer(const waiter& who, handle_errc error, reference what) {
  if (const auto* outside = std::get_if<outside_waiter>(&who)) {
    if (error == handle_errc::none)
      ++at(what).references; // The waiter's.
    want(answer_waiter{outside->waiter, error, error == handle_errc::none ? what : reference{}});
  } else if (const auto* outer = std::get_if<outer_waiter>(&who)) {
    captured_arrived(*outer, error);
  } else {
    auto [number, request] = std::get<peer_waiter>(who);
    auto* link = up_link(number);
    assert(link != nullptr);
    auto asked = link->servings.find(request);
    assert(asked != link->servings.end());
    if (error == handle_errc::none)
      return start_serving(*link, request, asked->second, what);
    link->servings.erase(asked);
    send(number, refused{request, error});
  }
}

void ledger::drop_waiters_of(link_number link, request_number request, reference what) {
  auto* which = find(what);
  if (which == nullptr || !which->fetch)
    return;
  std::erase_if(which->fetch->waiters, [&](const waiter& each) {
    const auto* peer = std::get_if<peer_waiter>(&each);
    return peer != nullptr && peer->link == link && peer->request == request;
  });
  stop_if_unwanted(what);
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
  if (source->shares_store) // It will be handed over: no replica.
    room_made(fetch.room);
  else
    want(make_room{fetch.room, which.size_bytes});
}

void ledger::room_made(room_id room) {
  auto known = rooms_.find(room);
  if (known == rooms_.end())
    return;
  auto& which = at(known->second);
  auto& source = links_.at(which.link);
  auto& fetch = *which.fetch;
  if (fetch.step != fetch_step::making_room)
    return;
  step_to(fetch, fetch_step::asking);
  fetch.source = source.number;
  fetch.request = ++source.last_request;
  source.requests[fetch.request] = {open_request::kind::pull, known->second, {}};
  send(source.number, pull{fetch.request, which.name});
}

void ledger::room_failed(room_id room, handle_errc why) {
  if (auto known = rooms_.find(room); known != rooms_.end())
    fail_fetch(known->second, why);
}

/// The attempt ends: nothing of it is left but who waits.
void ledger::restart(reference what) {
  auto& which = at(what);
  if (!which.fetch || which.fetch->step == fetch_step::waiting || which.fetch->step == fetch_step::sealing)
    return;
  auto waiters = std::move(which.fetch->waiters);
  auto deadline = which.fetch->deadline;
  ++which.references; // Until the end of this function.
  stop(which);
  which.fetch = std::make_unique<fetch_state>();
  which.fetch->waiters = std::move(waiters);
  which.fetch->deadline = deadline;
  --which.references;
}

/// Ends a fetch without an answer to anybody. Does not settle the entry.
void ledger::stop(entry& which) {
  if (!which.fetch)
    return;
  auto fetch = std::move(which.fetch);
  if (fetch->room != 0) {
    rooms_.erase(fetch->room);
    want(drop_room{fetch->room});
  }
  if (fetch->request != 0) {
    if (auto* source = up_link(fetch->source); source != nullptr && source->requests.erase(fetch->request) > 0)
      send(source->number, cancel{fetch->request});
  }
  for (auto inner : fetch->captured) {
    auto onto = resolve(inner);
    auto* captured = find(onto);
    if (captured != nullptr && captured->fetch) {
      std::erase_if(captured->fetch->waiters, [&](const waiter& each) {
        const auto* outer = std::get_if<outer_waiter>(&each);
        return outer != nullptr && outer->room == fetch->room;
      });
      stop_if_unwanted(onto);
    }
    drop(inner);
  }
}

void ledger::fail_fetch(reference what, handle_errc why) {
  auto& which = at(what);
  if (!which.fetch)
    return;
  auto waiters = std::move(which.fetch->waiters);
  ++which.references; // Until the end of this function.
  stop(which);
  for (const auto& each : waiters)
    answer(each, why, what);
  --which.references;
  settle_or_lose(what);
}

/// The bytes are at `place`: all who wait get their answer. Invariant 1 of `entry` holds from here on.
void ledger::finish_fetch(reference what) {
  auto& which = at(what);
  ++which.references; // Until the end of this function.
  std::vector<waiter> waiters;
  if (which.fetch)
    waiters = std::move(which.fetch->waiters);
  stop(which);
  enter(which, entry_state::here);
  which.offer.reset();
  for (const auto& each : waiters)
    answer(each, handle_errc::none, what);
  --which.references;
  settle(what);
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
  return true;
}

void ledger::expire_fetches() {
  for (std::uint32_t index = 0; index < entries_.size(); ++index) {
    auto& which = entries_[index];
    if (!which.fetch)
      continue;
    reference what{index, which.generation};
    std::erase_if(which.fetch->waiters, [&](const waiter& each) {
      const auto* outside = std::get_if<outside_waiter>(&each);
      if (outside == nullptr || outside->deadline > now_)
        return false;
      want(answer_waiter{outside->waiter, handle_errc::timed_out, {}});
      return true;
    });
    if (which.fetch->waiters.empty())
      stop_if_unwanted(what);
    else if (which.fetch->deadline <= now_ && which.fetch->step != fetch_step::sealing)
      fail_fetch(what, handle_errc::stalled);
  }
}

// -- what the source sends

void ledger::on(link_record& from, const pull_head& what) {
  if (what.request == 0 || what.request > from.last_request || what.captured.size() > options_.captured_max)
    return violated(from.number, "answered a question that was not asked, or with too much");
  std::vector<reference> captured;
  for (const auto& each : what.captured) {
    auto imported = import_one(from, each);
    if (!imported) {
      for (auto inner : captured)
        drop(inner);
      return violated(from.number, "sent a handle that it could not send");
    }
    captured.push_back(*imported);
  }
  auto asked = from.requests.find(what.request);
  if (asked == from.requests.end()) { // Cancelled: what was exported along is released.
    for (auto inner : captured)
      drop(inner);
    return;
  }
  auto about = asked->second.about;
  bool is_pull = asked->second.what == open_request::kind::pull;
  auto& which = at(about);
  if (!is_pull || which.fetch->step != fetch_step::asking || which.size_bytes != what.size_bytes || from.shares_store) {
    for (auto inner : captured)
      drop(inner);
    return violated(from.number, "answered a pull with something else");
  }
  auto& fetch = *which.fetch;
  step_to(fetch, fetch_step::receiving);
  fetch.captured = std::move(captured);
  if (what.size_bytes == 0) {
    from.requests.erase(asked);
    fetch.request = 0;
  }
  auto room = fetch.room;
  for (auto inner : std::vector{fetch.captured})
    if (rooms_.contains(room)) // Else one of them has failed it all.
      add_waiter(resolve(inner), outer_waiter{about, room});
  if (rooms_.contains(room))
    seal_if_complete(about);
}

void ledger::on(link_record& from, const pull_chunk& what) {
  auto asked = from.requests.find(what.request);
  if (asked == from.requests.end()) {
    if (what.request == 0 || what.request > from.last_request)
      violated(from.number, "answered a question that was not asked");
    return; // Cancelled.
  }
  auto about = asked->second.about;
  if (asked->second.what != open_request::kind::pull || at(about).fetch->step != fetch_step::receiving)
    return violated(from.number, "sent bytes that were not asked for");
  auto& which = at(about);
  auto& fetch = *which.fetch;
  if (what.offset != fetch.received_bytes || what.size_bytes == 0
      || what.size_bytes > which.size_bytes - fetch.received_bytes)
    return violated(from.number, "sent bytes out of order, or too many");
  want(write_room{fetch.room, what.offset, what.size_bytes});
  fetch.received_bytes += what.size_bytes;
  fetch.deadline = now_ + options_.pull_patience;
  if (fetch.received_bytes < which.size_bytes)
    return;
  from.requests.erase(asked);
  fetch.request = 0;
  seal_if_complete(about);
}

void ledger::on(link_record& from, const pull_here& what) {
  auto imported = import_one(from, what.handle);
  if (!imported)
    return violated(from.number, "sent a handle that it could not send");
  auto asked = from.requests.find(what.request);
  if (asked == from.requests.end() || asked->second.what != open_request::kind::pull
      || what.handle.mode != handle_mode::shared) {
    drop(*imported);
    if (what.request == 0 || what.request > from.last_request || asked != from.requests.end())
      violated(from.number, "answered a question that was not asked");
    return; // Cancelled.
  }
  auto about = asked->second.about;
  from.requests.erase(asked);
  at(about).fetch->request = 0;
  auto target = resolve(*imported);
  if (target != about && at(target).state == entry_state::here)
    return move_to(about, *imported);
  drop(*imported);
  if (target != about)
    fail_fetch(about, handle_errc::busy); // The store could not be asked: it can be fetched again.
}

/// One that the object captures is here, or will never be.
void ledger::captured_arrived(const outer_waiter& who, handle_errc error) {
  auto known = rooms_.find(who.room);
  if (known == rooms_.end())
    return;
  if (error != handle_errc::none)
    fail_fetch(who.outer, error);
  else
    seal_if_complete(who.outer);
}

void ledger::seal_if_complete(reference what) {
  auto& which = at(what);
  auto& fetch = *which.fetch;
  if (fetch.step != fetch_step::receiving || fetch.received_bytes < which.size_bytes)
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

// -- serving

void ledger::on(link_record& from, const pull& what) {
  auto record = from.exports.find(what.name);
  if (record == from.exports.end())
    return send(from.number, refused{what.request, handle_errc::unknown});
  if (from.servings.size() >= options_.servings_max)
    return send(from.number, refused{what.request, handle_errc::busy});
  if (!from.servings.try_emplace(what.request, serving{.name = what.name}).second)
    return violated(from.number, "used a request number twice");
  add_waiter(resolve(record->second.what), peer_waiter{from.number, what.request});
}

void ledger::on(link_record& from, const cancel& what) {
  if (from.servings.contains(what.request)) // Else it has been answered.
    end_serving(from, what.request);
}

void ledger::end_serving(link_record& to, request_number request) {
  auto ended = to.servings.extract(request);
  auto record = to.exports.find(ended.mapped().name);
  if (!ended.mapped().sending && record != to.exports.end())
    drop_waiters_of(to.number, request, resolve(record->second.what));
}

void ledger::start_serving(link_record& to, request_number request, serving& what, reference from) {
  const auto& which = at(from);
  if (to.shares_store) {
    to.servings.erase(request);
    if (auto handle = export_now(to, from))
      send(to.number, pull_here{request, *std::move(handle)});
    else
      send(to.number, refused{request, handle.error()});
    return;
  }
  what.place = which.place;
  what.size_bytes = which.size_bytes;
  what.sending = true;
  pull_head head{request, which.size_bytes, {}};
  for (const auto& place : objects_.captured_by(which.place)) {
    auto inner = add(place);
    if (auto handle = export_now(to, inner)) // Cannot fail: no store is shared.
      head.captured.push_back(*std::move(handle));
    drop(inner);
  }
  send(to.number, std::move(head));
  if (what.size_bytes == 0)
    to.servings.erase(request);
}

bool ledger::send_chunk(link_number link) {
  auto* to = up_link(link);
  if (to == nullptr || to->servings.empty())
    return false;
  auto next = to->servings.upper_bound(to->last_served);
  for (std::size_t tried = 0; tried < to->servings.size(); ++tried, ++next) {
    if (next == to->servings.end())
      next = to->servings.begin();
    auto& [request, what] = *next;
    if (!what.sending)
      continue;
    auto size_bytes = std::min(options_.chunk_bytes_max, what.size_bytes - what.offset);
    want(send_bytes{link, {request, what.offset, size_bytes}, what.place});
    what.offset += size_bytes;
    to->last_served = request;
    if (what.offset == what.size_bytes)
      to->servings.erase(next);
    return true;
  }
  return false;
}

} // namespace troupe::internal::handles
