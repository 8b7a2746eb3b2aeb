// What a link's loss does and what a new one brings back; questions to a peer, and whether something answers them.
#include <troupe/framework/internal/handles/ledger.hpp>

#include <algorithm>
#include <cassert>

namespace troupe::internal::handles {

// -- up and down

bool ledger::link_up(link_number link, node_name peer, bool shares_store) {
  return in_event([&] {
    auto [place, fresh] = links_.try_emplace(link, link, peer, shares_store, timers_, options_);
    if (!fresh)
      return false;
    auto& made = place->second;
    links_to_[peer].insert(link);
    dials_.linked(peer);
    reclaim_from(peer);
    const auto of_peer = std::pair{adoption_offer{peer, {}, 0}, reference{}};
    for (auto each = offers_.lower_bound(of_peer); each != offers_.end() && each->first.exporter == peer; ++each)
      if (at(each->second).adopting == 0)
        queue_adoption(each->second, made);
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
  auto peer = ended.peer;
  ended.phase = link_phase::grace;
  ended.grace_ends.set(now_ + options_.grace);
  ended.parked.clear();
  ended.unclaimed.clear(); // Abandoned below, with everything else.
  resume(ended);
  while (!ended.servings.empty())
    end_serving(ended, ended.servings.first());
  objects_.abandon(link);
  for (auto next = ended.exports.begin(); next != ended.exports.end();) {
    auto each = next++;
    // In the store each importer has its own hold, or an entry in flight: they need no grace. But what was reclaimed
    // from a link without a store has neither.
    if (ended.shares_store && !is_proxy(each->first) && each->second.reclaimed == 0)
      drop_export(ended, each);
  }
  for (auto next = ended.imports.begin(); next != ended.imports.end();) {
    auto what = (next++)->second;
    auto& imported = at(what);
    restart(what);
    imported.count = 0;
    if (imported.state == entry_state::here)
      forget_import(what);
  }
  give_up_questions(ended);
  touch(link);
  reclaim_from(peer);
}

/// A peer that breaks the protocol loses its link, and nothing else happens.
void ledger::violated(link_number link, std::string_view text) {
  want(close_link{link, handle_errc::violation, text});
  end_link(link);
}

void ledger::end_grace(link_number link) {
  auto& ended = links_.at(link);
  while (!ended.exports.empty())
    drop_export(ended, ended.exports.begin());
  for (auto next = ended.imports.begin(); next != ended.imports.end();)
    lose_source((next++)->second, false);
  auto to_peer = links_to_.find(ended.peer);
  to_peer->second.erase(link);
  if (to_peer->second.empty())
    links_to_.erase(to_peer);
  links_.erase(link);
}

void ledger::end_graces() {
  in_event([&] {
    std::vector<link_number> lost;
    for (const auto& [number, each] : links_)
      if (each.phase == link_phase::grace)
        lost.push_back(number);
    for (auto number : lost)
      if (links_.contains(number))
        end_grace(number);
  });
}

/// Who gave the entry has nothing for it any more. It is lost when the event ends, unless it is being adopted, or its
/// replica sealed.
void ledger::lose_source(reference what, bool was_told) {
  at(what).loss = {.code = handle_errc::object_lost, .source = at(what).link, .was_told = was_told};
  restart(what);
  forget_import(what);
  touch(what);
}

void ledger::on_message(link_number from, const message& what) {
  in_event([&] {
    if (auto* link = up_link(from))
      std::visit([&](const auto& each) { on(*link, each); }, what);
  });
}

// -- questions and answers

/// Requires: it is open.
open_request ledger::close(link_record& from, request_number request) {
  auto what = from.questions.close(request);
  if (what.what == open_request::kind::adopt) {
    from.adoptions.end(what.offered_by);
    touch(from.number);
  }
  return what;
}

/// Its time is over, or the link. What comes late is let go.
void ledger::give_up_question(link_record& of, request_number request) {
  bool is_up = of.phase == link_phase::up;
  auto asked = close(of, request);
  auto* which = find(asked.about);
  if (which == nullptr)
    return;
  if (asked.what == open_request::kind::adopt && which->adopting == of.number)
    end_adoption(asked.about, is_up ? asked.token : 0);
  else if (asked.what == open_request::kind::reclaim && which->reclaiming == of.number)
    which->reclaiming = 0;
}

/// The link has ended: what was asked over it, and what waits to be. Pulls have ended with their fetches then.
void ledger::give_up_questions(link_record& of) {
  while (of.questions.size() > 0)
    give_up_question(of, of.questions.first());
  for (auto what : of.adoptions.queued())
    end_adoption(what, 0);
}

/// Whether a peer's question has a number that it may have. If not, its link is over.
bool ledger::may_ask(link_record& from, request_number request) {
  if (from.questions.admit(request))
    return true;
  violated(from.number, "used a request number twice");
  return false;
}

// -- reclaiming

/// Asks for everything that was imported over lost links to the same incarnation of the peer, if another is up.
void ledger::reclaim_from(const node_name& peer) {
  auto* over = up_link_to(peer);
  if (over == nullptr)
    return;
  for (auto number : links_to_.at(peer)) {
    auto& link = links_.at(number);
    if (link.phase != link_phase::grace)
      continue;
    for (const auto& [name, what] : link.imports) {
      if (at(what).reclaiming != 0)
        continue;
      at(what).reclaiming = over->number;
      auto request =
          over->questions.ask({.what = open_request::kind::reclaim, .about = what, .name = name}, link.grace_ends.at());
      send(over->number, reclaim{request, name, number});
    }
  }
}

/// Where what the peer asks for is kept for it: on the link that it names, or else where an answer to the same question
/// was lost with its link. That one may still look up here; but so does a good one, where an older question comes late.
link_record* ledger::holds_for_reclaim(const link_record& from, const reclaim& what) {
  auto lost = links_.find(what.previous);
  if (lost != links_.end() && lost->second.phase == link_phase::grace && lost->second.peer == from.peer
      && lost->second.exports.contains(what.name))
    return &lost->second;
  link_record* up = nullptr;
  for (auto number : links_to_.at(from.peer)) {
    auto& each = links_.at(number);
    auto record = each.exports.find(what.name);
    if (&each == &from || record == each.exports.end() || record->second.reclaimed == 0)
      continue;
    if (each.phase == link_phase::grace)
      return &each;
    up = &each;
  }
  return up;
}

/// What the peer had under this name on a lost link counts one on the new one, and no longer on the old: so that
/// exports do not multiply, however often the peer comes again. When the answer is lost with the new link, what was
/// counted there is given to who asks again.
void ledger::give_back(link_record& to, link_record& from, const object_id& name, bool is_named) {
  auto old = from.exports.find(name);
  auto& record = count_export(to, name, old->second.what);
  ++record.reclaimed;
  if (from.phase == link_phase::up)
    return; // It may be in use there.
  vouchers_.move_all_of(from.number, name, to.number);
  auto& left = old->second;
  if (is_named && left.count > left.reclaimed) {
    left.count = left.reclaimed; // The rest was the peer's one import.
  } else {
    --left.count;
    --left.reclaimed;
  }
  if (left.count == 0)
    drop_export(from, old);
}

void ledger::on(link_record& from, const reclaim& what) {
  if (!may_ask(from, what.request))
    return;
  if (auto* previous = up_link(what.previous);
      previous != nullptr && previous != &from && previous->peer == from.peer) {
    // The peer has seen the end of that link before this node has.
    want(close_link{what.previous, handle_errc::link_down, "the peer has lost this link"});
    end_link(what.previous);
  }
  auto* holder = holds_for_reclaim(from, what);
  if (holder == nullptr)
    return send(from.number, refused{what.request, handle_errc::unknown});
  auto held = holder->exports.find(what.name);
  if (at(resolve(held->second.what)).state == entry_state::lost) { // The peer was told so over a link that was lost.
    if (holder->phase == link_phase::grace) // Else the peer releases it there, since it has been told there, too.
      drop_export(*holder, held);
    return send(from.number, refused{what.request, handle_errc::object_lost});
  }
  give_back(from, *holder, what.name, holder->number == what.previous);
  send(from.number, reclaimed{what.request, what.name});
}

void ledger::on(link_record& from, const reclaimed& what) {
  using standing = link_questions::standing;
  auto asked = from.questions.standing_of(what.request, open_request::kind::reclaim);
  if (asked == standing::never_asked
      || (asked == standing::open && from.questions.find(what.request)->name != what.name))
    return violated(from.number, "answered a question that was not asked");
  if (asked == standing::given_up)
    return send(from.number, release{what.name, 1});
  auto about = close(from, what.request).about;
  auto* which = find(about);
  if (which == nullptr || which->reclaiming != from.number)
    return send(from.number, release{what.name, 1}); // Not wanted any more.
  which->reclaiming = 0;
  auto [known, is_new] = from.imports.try_emplace(what.name, about);
  if (!is_new && at(known->second).size_bytes != which->size_bytes)
    return violated(from.number, "gave one name two sizes");
  links_.at(which->link).imports.erase(what.name);
  touch(which->link);
  if (is_new) {
    which->link = from.number;
    which->count = 1;
    return advance(about);
  }
  which->link = 0; // It was sent anew meanwhile.
  auto& other = at(known->second);
  ++other.references;
  if (other.state == entry_state::here)
    send(from.number, release{what.name, 1}); // It needs nobody.
  else
    ++other.count;
  move_to(about, known->second);
}

void ledger::on(link_record& from, const refused& what) {
  if (!from.questions.was_asked(what.request) || !may_refuse(what.reason))
    return violated(from.number, "refused what was not asked, or for a reason that it cannot have");
  if (from.questions.find(what.request) == nullptr)
    return; // Given up meanwhile.
  auto asked = close(from, what.request);
  auto* which = find(asked.about);
  if (which == nullptr)
    return;
  bool is_busy = what.reason == handle_errc::busy;
  switch (asked.what) {
  case open_request::kind::adopt:
    if (which->adopting != from.number)
      return;
    if (is_busy) // The offer is still good: it is asked again, for some time.
      from.pause.begin_for_adoptions(end_of_pause());
    if (is_busy && which->busy_until == never)
      which->busy_until = now_ + options_.adopt_patience;
    return end_adoption(asked.about, is_busy && which->busy_until > now_ ? 0 : asked.token);
  case open_request::kind::reclaim:
    if (which->reclaiming == from.number)
      lose_source(asked.about, true);
    return;
  case open_request::kind::pull:
    which->fetch->request = 0;
    if (!is_busy && what.reason != handle_errc::full)
      return fail(asked.about, {what.reason});
    return begin_again_later(asked.about, {.code = what.reason,
                                           .source = from.number,
                                           .was_told = true,
                                           .is_behind = which->mode == handle_mode::behind,
                                           .is_disk_full = what.is_disk_full});
  }
}

} // namespace troupe::internal::handles
