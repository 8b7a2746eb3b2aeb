// Events in, actions out, and changes that involve several parts.
#include <troupe/framework/internal/handles/ledger.hpp>

#include <cassert>

namespace troupe::internal::handles {

namespace {

constexpr violation was_not_asked = "answered a question that was not asked";
constexpr violation sent_wrong_handle = "sent a handle that it could not send";

} // namespace

ledger::ledger(ledger_options options, local_objects& objects)
    : books_(std::move(options), objects),
      marks_(options_.fresh_token),
      imports_(books_),
      unfinished_(books_),
      fetches_(books_, imports_, *this, serving_),
      serving_(books_, fetches_, sending_),
      vouching_(books_, *this, sending_),
      adopting_(books_, *this, vouching_),
      exports_(books_, serving_, vouching_.vouchers()),
      sending_(books_, exports_, marks_),
      receiving_(books_, imports_, fetches_, adopting_, marks_, *this),
      reclaiming_(books_, exports_, fetches_, vouching_.vouchers(), *this) {}

// -- the end of an event

void ledger::end_event() {
  do {
    while (const auto what = books_.entries.take_touched())
      conclude(*what);
    for (auto link : books_.links.take_touched())
      go_on(link);
  } while (books_.entries.has_touched());
  books_.clock.end_event();
}

/// Asks the peer as many questions as allowed. Forgets a lost link that has no entries left.
void ledger::go_on(link_number link) {
  auto* which = books_.links.find(link);
  if (which == nullptr)
    return;
  if (which->phase == link_phase::up) {
    fetches_.begin_pulls(*which);
    adopting_.ask(*which);
  } else if (which->exports.empty() && which->imports.empty()) {
    end_grace(link);
  }
}

/// Draws the conclusions from an entry's state: ends a fetch that has failed or has no waiters, loses an entry without
/// a source, and frees an entry that is not wanted.
void ledger::conclude(reference what) {
  const auto* which = books_.entries.find(what);
  if (which == nullptr)
    return;
  fetches_.stop_unless_awaited(what);
  const bool is_sealing = fetches_.is_sealing(what);
  if (const auto* loss = unfinished_.lost_part(what)) {
    at(what).loss = *loss;
    lose(what);
  }
  if (which->state == entry_state::remote && which->link == 0 && which->adoption.over == 0 && !is_sealing
      && !which->parts)
    lose(what);
  fetches_.answer_failed(what);
  fetches_.finish_parts(what);
  if (!which->wanted())
    free(what);
}

/// Frees an entry that is not wanted. Drops its holds and releases its imports.
void ledger::free(reference what) {
  adopting_.leave(what);
  adopting_.forget_offer(what);
  imports_.forget(what);
  unfinished_.forget_parts(what);
  marks_.forget(at(what).trail);
  books_.entries.free(what);
}

/// The source is gone for good. Every peer behind this entry, or behind an entry that has moved to it, is told, and
/// then releases its handle. Objects of which it is a part are examined next.
void ledger::lose(reference what) {
  books_.entries.enter(what, entry_state::lost);
  adopting_.forget_offer(what);
  unfinished_.forget_parts(what);
  fetches_.fail(what, at(what).loss);
  std::vector<exports::place> behind;
  for (std::vector<reference> left{what}; !left.empty();) {
    const auto next = left.back();
    left.pop_back();
    const auto places = exports_.places_of(next);
    behind.insert(behind.end(), places.begin(), places.end());
    const auto moved = books_.entries.moved_to(next);
    left.insert(left.end(), moved.begin(), moved.end());
    unfinished_.touch_outer_of(next);
  }
  for (const auto& [number, name] : behind) {
    if (auto& link = books_.links.at(number); link.phase == link_phase::up)
      send(number, handles::lost{name});
    else
      exports_.drop(link, name);
  }
}

/// The entry's source has no object for it any more. The entry is lost when the event ends, unless it is being adopted
/// or its replica is being sealed.
void ledger::lose_source(reference what, bool was_told) {
  at(what).loss = {.code = handle_errc::object_lost, .source = at(what).link, .was_told = was_told};
  fetches_.restart(what);
  imports_.forget(what);
  books_.entries.touch(what);
}

void ledger::move_to(reference what, reference target) {
  const auto waiters = fetches_.stop(what);
  adopting_.leave(what);
  adopting_.forget_offer(what);
  imports_.forget(what);
  books_.entries.move(what, target);
  for (const auto& each : waiters)
    fetches_.add_waiter(resolve(target), each);
  books_.entries.touch(what);
}

void ledger::has_come(reference what) {
  unfinished_.forget_parts(what);
  adopting_.leave(what);
  adopting_.forget_offer(what);
}

// -- references of the application

reference ledger::add(const object_id& place) {
  return books_.entries.refer_to(place);
}

reference ledger::add_unfinished(std::uint64_t size_bytes, std::span<const reference> captured) {
  return in_event([&] { return unfinished_.add(size_bytes, captured); });
}

void ledger::retain(reference what) {
  books_.entries.refer(what);
}

void ledger::drop(reference what) {
  in_event([&] { unrefer(what); });
}

std::optional<object_id> ledger::place_of(reference what) const {
  const auto* found = books_.entries.find(resolve(what));
  if (found == nullptr || found->state != entry_state::here)
    return std::nullopt;
  return found->place;
}

std::optional<fetch_error> ledger::loss_of(reference what) const {
  const auto* found = books_.entries.find(resolve(what));
  if (found == nullptr)
    return fetch_error{.code = handle_errc::object_lost};
  return found->state == entry_state::lost ? std::optional{found->loss} : std::nullopt;
}

bool ledger::is_behind(reference what) const {
  const auto* found = books_.entries.find(resolve(what));
  return found != nullptr && found->state == entry_state::remote && found->mode == handle_mode::behind;
}

void ledger::fetch(reference what, waiter_id who, time_point deadline) {
  in_event([&] { fetches_.begin(who, resolve(what), deadline); });
}

void ledger::cancel_fetch(waiter_id who) {
  in_event([&] { fetches_.cancel(who); });
}

// -- messages of the application

std::vector<std::optional<handle_descriptor>> ledger::count_out(link_number to, std::span<const reference> what) {
  return in_event([&] {
    std::vector<std::optional<handle_descriptor>> result(what.size());
    auto* link = up_link(to);
    for (std::size_t i = 0; link != nullptr && i < what.size(); ++i)
      if (auto handle = sending_.export_in_message(*link, what[i]))
        result[i] = *std::move(handle);
    return result;
  });
}

std::expected<std::vector<reference>, handle_errc> ledger::receive(link_number from,
                                                                   std::span<const handle_descriptor> handles) {
  return in_event([&]() -> std::expected<std::vector<reference>, handle_errc> {
    auto* link = up_link(from);
    if (link == nullptr)
      return std::unexpected{handle_errc::link_down};
    if (auto imported = receiving_.import_all(*link, handles, receiving::came::in_message))
      return *std::move(imported);
    judge(from, sent_wrong_handle);
    return std::unexpected{handle_errc::violation};
  });
}

// -- links

bool ledger::link_up(link_number link, node_name peer, bool shares_store) {
  return in_event([&] {
    auto* made = books_.links.add(link, peer, shares_store);
    if (made == nullptr)
      return false;
    reclaiming_.ask(peer);
    adopting_.on_link_up(*made);
    return true;
  });
}

void ledger::link_down(link_number link) {
  in_event([&] { end_link(link); });
}

void ledger::end_link(link_number link) {
  auto* found = up_link(link);
  if (found == nullptr)
    return;
  auto& ended = *found;
  ended.phase = link_phase::grace;
  ended.grace_ends.set(books_.clock.now() + options_.grace);
  ended.parked.clear();
  ended.unclaimed.clear(); // The link abandons them with all other handed-over objects.
  resume(ended);
  serving_.end_all(ended);
  for (auto next = ended.exports.begin(); next != ended.exports.end();) {
    const auto& [name, record] = *next++;
    // Importers that share the store have their own holds, or entries in flight, and need no grace. An export that was
    // reclaimed from a link without a store has neither.
    if (ended.shares_store && !sending_.is_proxy(name) && record.reclaimed == 0)
      exports_.drop(ended, name);
  }
  for (auto next = ended.imports.begin(); next != ended.imports.end();) {
    const auto what = (next++)->second;
    fetches_.restart(what);
    at(what).count = 0;
    if (at(what).state == entry_state::here)
      imports_.forget(what);
  }
  while (ended.questions.size() > 0) // Pulls have ended with their fetches.
    give_up_question(ended, ended.questions.first());
  adopting_.on_link_down(ended);
  books_.links.touch(link);
  reclaiming_.ask(ended.peer);
}

void ledger::end_grace(link_number link) {
  auto& ended = books_.links.at(link);
  ended.grace_ends.clear();
  exports_.drop_all(ended);
  for (auto next = ended.imports.begin(); next != ended.imports.end();)
    lose_source((next++)->second, false);
  books_.links.forget(link);
}

void ledger::end_graces() {
  in_event([&] {
    std::vector<link_number> lost;
    for (const auto& [number, each] : books_.links.all())
      if (each.phase == link_phase::grace)
        lost.push_back(number);
    for (auto number : lost)
      if (books_.links.find(number) != nullptr)
        end_grace(number);
  });
}

/// Ends the pause for the peer, because its time is over or the link has ended.
void ledger::resume(link_record& link) {
  link.pause.end();
  link.pulls_of_own.try_more();
  link.pulls_behind.try_more();
  receiving_.claim(link);
  books_.links.touch(link.number);
}

/// Gives up a question whose deadline has passed or whose link has ended. Handles in a late answer are released.
void ledger::give_up_question(link_record& of, request_number request) {
  const auto asked = of.questions.close(request);
  switch (asked.what) {
  case open_request::kind::adopt:
    adopting_.on_closed(of, asked);
    return adopting_.on_given_up(of, asked);
  case open_request::kind::reclaim:
    return reclaiming_.on_given_up(of, asked.about);
  case open_request::kind::pull:
    return;
  }
}

std::optional<served_chunk> ledger::next_chunk(link_number link) {
  auto* to = up_link(link);
  if (to == nullptr || !to->servings.has_ready())
    return std::nullopt;
  return in_event([&] { return serving_.next_chunk(*to); });
}

void ledger::cannot_serve(link_number link, request_number request, handle_errc why, bool is_disk_full) {
  assert(may_refuse(why));
  in_event([&] {
    auto* to = up_link(link);
    if (to == nullptr)
      return;
    serving_.end(*to, request); // It may have ended: its last bytes may be those that cannot be served.
    send(link, refused{request, why, is_disk_full});
  });
}

// -- rooms

room_id ledger::room_for(link_number from, const pull_chunk& what) {
  const auto* link = books_.links.up(from);
  if (link == nullptr)
    return 0;
  const auto room = fetches_.room_for(*link, what);
  if (!room)
    in_event([&] { judge(from, room.error()); });
  return room.value_or(0);
}

bool ledger::room_filled(room_id room, std::uint64_t more_bytes) {
  return in_event([&] { return fetches_.room_filled(room, more_bytes); });
}

void ledger::room_made(room_id room) {
  in_event([&] { fetches_.room_made(room); });
}

bool ledger::room_found(room_id room, const object_id& place) {
  return in_event([&] { return fetches_.has_replica(room, place, fetch_step::making_room); });
}

void ledger::room_failed(room_id room, handle_errc why) {
  assert(why == handle_errc::full || why == handle_errc::busy);
  in_event([&] { fetches_.room_failed(room, why); });
}

bool ledger::room_sealed(room_id room, const object_id& place) {
  return in_event([&] { return fetches_.has_replica(room, place, fetch_step::sealing); });
}

// -- time

std::optional<time_point> ledger::next_deadline() const {
  return books_.timers.next();
}

void ledger::tick() {
  in_event([&] {
    std::vector<reference> patient;
    while (const auto due = books_.timers.take_due(books_.clock.now()))
      expire(*due, patient);
    fetches_.judge(patient);
  });
}

/// Collects in `patient` the fetches that wait only for captured objects.
void ledger::expire(const timer& due, std::vector<reference>& patient) {
  switch (due.what) {
  case timer::kind::waiter:
    return fetches_.expire_waiter(due.owner);
  case timer::kind::fetch:
    return fetches_.expire_patience({static_cast<std::uint32_t>(due.owner), static_cast<std::uint32_t>(due.number)},
                                    patient);
  case timer::kind::grace:
    return end_grace(due.owner);
  case timer::kind::question:
    return give_up_question(books_.links.at(due.owner), due.number);
  case timer::kind::parked:
    return vouching_.refuse_parked(due.owner, due.number);
  case timer::kind::dials:
    return adopting_.expire_dials(due.owner, due.at);
  case timer::kind::retry:
    return resume(books_.links.at(due.owner));
  }
}

// -- messages of peers

void ledger::on_message(link_number from, const message& what) {
  in_event([&] {
    if (auto* link = up_link(from))
      std::visit([&](const auto& each) { on(*link, each); }, what);
  });
}

/// Ends the link of a peer that breaks the protocol. Nothing else is affected.
void ledger::judge(link_number from, violation why) {
  if (why.empty())
    return;
  want(close_link{from, handle_errc::violation, why});
  end_link(from);
}

/// Returns whether a peer's question has a permitted number. If not, its link is ended.
bool ledger::admit(link_record& from, request_number request) {
  if (from.questions.admit(request))
    return true;
  judge(from.number, "used a request number twice");
  return false;
}

void ledger::on(link_record& from, const release& what) {
  judge(from.number, exports_.on_release(from, what));
}

void ledger::on(link_record& from, const vouch& what) {
  const auto is_unused = vouching_.on_vouch(from, what);
  if (!is_unused)
    judge(from.number, is_unused.error());
  else if (*is_unused && what.beneficiary == options_.self)
    adopting_.come_home({options_.self, what.name, what.token});
}

void ledger::on(link_record& from, const adopt& what) {
  if (admit(from, what.request))
    vouching_.on_adopt(from, what);
}

void ledger::on(link_record& from, const reclaim& what) {
  if (!admit(from, what.request))
    return;
  if (auto* previous = up_link(what.previous);
      previous != nullptr && previous != &from && previous->peer == from.peer) {
    // The peer has seen that link's end before this node.
    want(close_link{what.previous, handle_errc::link_down, "the peer has lost this link"});
    end_link(what.previous);
  }
  reclaiming_.on_reclaim(from, what);
}

void ledger::on(link_record& from, const pull& what) {
  if (admit(from, what.request))
    serving_.on_pull(from, what, sending_.is_proxy(what.name));
}

void ledger::on(link_record& from, const cancel& what) {
  serving_.end(from, what.request);
  from.parked.take(what.request); // Or it has already been answered.
}

void ledger::on(link_record& from, const adopted& what) {
  const auto asked = from.questions.standing_of(what.request, open_request::kind::adopt);
  if (asked == link_questions::standing::never_asked)
    return judge(from.number, was_not_asked);
  const auto imported = receiving_.import_one(from, what.handle, receiving::came::in_answer);
  if (!imported)
    return judge(from.number, sent_wrong_handle);
  if (from.questions.find(what.request) == nullptr) // The handles in the answer may have ended it.
    return unrefer(*imported);
  const auto open = from.questions.close(what.request);
  adopting_.on_closed(from, open);
  adopting_.on_adopted(open, *imported);
}

void ledger::on(link_record& from, const reclaimed& what) {
  judge(from.number, reclaiming_.on_reclaimed(from, what));
}

void ledger::on(link_record& from, const pull_head& what) {
  const auto asked = from.questions.standing_of(what.request, open_request::kind::pull);
  if (asked == link_questions::standing::never_asked || what.captured.size() > options_.captured_max)
    return judge(from.number, "answered a question that was not asked, or with too much");
  if (const auto captured = receiving_.import_all(from, what.captured, receiving::came::in_answer))
    judge(from.number, fetches_.on_head(from, what, *captured));
  else
    judge(from.number, sent_wrong_handle);
}

void ledger::on(link_record& from, const pull_here& what) {
  const auto asked = from.questions.standing_of(what.request, open_request::kind::pull);
  if (asked == link_questions::standing::never_asked || what.handle.mode != handle_mode::shared)
    return judge(from.number, was_not_asked);
  const auto imported = receiving_.import_one(from, what.handle, receiving::came::in_answer);
  if (!imported)
    return judge(from.number, sent_wrong_handle);
  judge(from.number, fetches_.on_here(from, what.request, *imported));
}

void ledger::on(link_record& from, const refused& what) {
  if (!from.questions.was_asked(what.request) || !may_refuse(what.reason))
    return judge(from.number, "refused what was not asked, or for a reason that it cannot have");
  if (from.questions.find(what.request) == nullptr)
    return; // Given up meanwhile.
  const auto asked = from.questions.close(what.request);
  switch (asked.what) {
  case open_request::kind::adopt:
    adopting_.on_closed(from, asked);
    return adopting_.on_refused(from, asked, what.reason);
  case open_request::kind::reclaim:
    if (const auto* which = books_.entries.find(asked.about); which != nullptr && which->reclaiming == from.number)
      lose_source(asked.about, true);
    return;
  case open_request::kind::pull:
    return fetches_.on_refused(from, asked.about, what);
  }
}

void ledger::on(link_record& from, const lost& what) {
  const auto known = from.imports.find(what.name);
  if (known != from.imports.end() && at(known->second).state == entry_state::remote) // Otherwise already released.
    lose_source(known->second, true);
}

bool ledger::is_used(link_number link) const {
  const auto* const found = books_.links.up(link);
  return found != nullptr
         && (!found->exports.empty() || !found->imports.empty() || !found->unclaimed.empty()
             || found->questions.size() > 0 || found->servings.size() > 0 || found->parked.size() > 0);
}

// -- statistics

ledger_tables ledger::tables() const {
  ledger_tables result;
  result.rows = books_.entries.size();
  books_.entries.for_each([&](reference, const entry& each) {
    ++result.entries;
    result.fetches += each.fetch != nullptr;
  });
  for (const auto& [number, link] : books_.links.all()) {
    ++(link.phase == link_phase::up ? result.links_up : result.links_in_grace);
    result.exports += link.exports.size();
    result.imports += link.imports.size();
    result.requests += link.questions.size();
    result.servings += link.servings.size();
    result.parked += link.parked.size();
  }
  result.vouchers = vouching_.vouchers().size();
  result.dialed = adopting_.dialed();
  result.waiters = fetches_.waiters();
  result.rooms = fetches_.rooms();
  return result;
}

} // namespace troupe::internal::handles
