// What a link's loss does and what a new one brings back; questions to a peer, and whether something answers them.
#include <troupe/framework/internal/handles/ledger.hpp>

#include <algorithm>
#include <cassert>

namespace troupe::internal::handles {

// -- up and down

void ledger::link_up(link_number link, node_name peer, bool shares_store) {
  auto [made, fresh] = links_.try_emplace(link);
  assert(fresh);
  made->second.number = link;
  made->second.peer = peer;
  made->second.shares_store = shares_store;
  for (auto& [number, each] : links_)
    each.dialed.erase(peer);
  reclaim_from(peer);
  for (std::uint32_t index = 0; index < entries_.size(); ++index) {
    const auto& each = entries_[index];
    if (each.state == entry_state::remote && each.adopting == 0 && each.offer && each.offer->exporter == peer)
      ask_adoption({index, each.generation}, made->second);
  }
  settle();
}

void ledger::link_down(link_number link) {
  end_link(link);
  settle();
}

void ledger::end_link(link_number link) {
  auto* found = up_link(link);
  if (found == nullptr)
    return;
  auto& ended = *found;
  auto peer = ended.peer;
  ended.phase = link_phase::grace;
  ended.grace_ends = now_ + options_.grace;
  ended.parked.clear();
  ended.dialed.clear();
  ended.unclaimed.clear(); // Abandoned below, with everything else.
  while (!ended.servings.empty())
    end_serving(ended, ended.servings.begin()->first);
  objects_.abandon(link);
  for (auto next = ended.exports.begin(); next != ended.exports.end();) {
    auto each = next++;
    // In the store each importer has its own hold, or an entry in flight: they need no grace.
    if (ended.shares_store && each->first.store != options_.proxy_number)
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
  if (ended.exports.empty() && ended.imports.empty())
    links_.erase(link);
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
    lose_source((next++)->second);
  links_.erase(link);
}

/// Who gave the entry has nothing for it any more. It is lost when the event ends, unless it is being adopted, or its
/// replica sealed.
void ledger::lose_source(reference what) {
  restart(what);
  forget_import(what);
  touch(what);
}

void ledger::on_message(link_number from, const message& what) {
  if (auto* link = up_link(from))
    std::visit([&](const auto& each) { on(*link, each); }, what);
  settle();
}

void ledger::tick(time_point now) {
  now_ = std::max(now_, now);
  std::vector<link_number> ended;
  for (auto& [number, link] : links_) {
    if (link.phase == link_phase::grace) {
      if (link.grace_ends <= now_ || (link.exports.empty() && link.imports.empty()))
        ended.push_back(number);
      continue;
    }
    std::erase_if(link.parked, [&](const parked_adopt& each) {
      if (each.deadline > now_)
        return false;
      send(link.number, refused{each.request, handle_errc::unknown});
      return true;
    });
    std::erase_if(link.unclaimed, [&](const object_id& place) {
      auto adoption = objects_.adopt(place, link.number);
      if (adoption == local_objects::adoption::done)
        objects_.drop(place);
      return adoption != local_objects::adoption::busy;
    });
    std::erase_if(link.dialed, [&](const auto& each) { return each.second <= now_; });
    give_up_questions(link);
  }
  for (auto number : ended)
    end_grace(number);
  expire_fetches();
  settle();
}

// -- questions and answers

request_number ledger::ask(link_record& over, const open_request& what) {
  over.requests[++over.last_request] = what;
  over.adoptions += what.what == open_request::kind::adopt;
  return over.last_request;
}

/// Whether a peer's message is an answer to a question of this end. Some have been given up meanwhile; what a late
/// answer brings is let go.
ledger::question ledger::answers(const link_record& from, request_number request, open_request::kind what) const {
  auto asked = from.requests.find(request);
  if (asked == from.requests.end())
    return request == 0 || request > from.last_request ? question::never_asked : question::given_up;
  return asked->second.what == what ? question::open : question::never_asked;
}

/// Requires: it is open.
open_request ledger::close(link_record& from, request_number request) {
  auto asked = from.requests.extract(request);
  assert(!asked.empty());
  from.adoptions -= asked.mapped().what == open_request::kind::adopt;
  return asked.mapped();
}

/// Those whose time is over; all when the link has ended. Pulls have ended with their fetches then.
void ledger::give_up_questions(link_record& of) {
  bool is_up = of.phase == link_phase::up;
  for (auto next = of.requests.begin(); next != of.requests.end();) {
    const auto& [number, asked] = *next++;
    if (asked.what == open_request::kind::pull || (is_up && asked.deadline > now_))
      continue;
    auto [kind, about, name, token, deadline] = close(of, number);
    auto* which = find(about);
    if (which == nullptr)
      continue;
    if (kind == open_request::kind::adopt && which->adopting == of.number)
      end_adoption(about, is_up ? token : 0);
    else if (kind == open_request::kind::reclaim && which->reclaiming == of.number)
      which->reclaiming = 0;
  }
}

/// Whether a peer's question has a number that it may have. If not, its link is over.
bool ledger::may_ask(link_record& from, request_number request) {
  if (request > from.last_asked) {
    from.last_asked = request;
    return true;
  }
  violated(from.number, "used a request number twice");
  return false;
}

// -- reclaiming

/// Asks for everything that was imported over lost links to the same incarnation of the peer, if another is up.
void ledger::reclaim_from(const node_name& peer) {
  auto* over = up_link_to(peer);
  if (over == nullptr)
    return;
  for (auto& [number, link] : links_) {
    if (link.phase != link_phase::grace || link.peer != peer)
      continue;
    for (const auto& [name, what] : link.imports) {
      if (at(what).reclaiming != 0)
        continue;
      at(what).reclaiming = over->number;
      auto request = ask(*over, {open_request::kind::reclaim, what, name, 0, link.grace_ends});
      send(over->number, reclaim{request, name, number});
    }
  }
}

/// What the peer had under this name on the link that was lost counts one on the new one. It stays on the lost one
/// until the grace ends: when the answer is lost with the new link, the peer asks for it again.
void ledger::on(link_record& from, const reclaim& what) {
  if (!may_ask(from, what.request))
    return;
  if (auto* previous = up_link(what.previous);
      previous != nullptr && previous != &from && previous->peer == from.peer) {
    // The peer has seen the end of that link before this node has.
    want(close_link{what.previous, handle_errc::link_down, "the peer has lost this link"});
    end_link(what.previous);
  }
  auto lost = links_.find(what.previous);
  if (lost == links_.end() || lost->second.phase != link_phase::grace || lost->second.peer != from.peer
      || !lost->second.exports.contains(what.name))
    return send(from.number, refused{what.request, handle_errc::unknown});
  auto object = lost->second.exports.at(what.name).what;
  auto [record, fresh] = from.exports.try_emplace(what.name, export_record{object, 0, {}});
  ++record->second.count;
  if (fresh)
    ++at(object).dependents;
  for (auto& [number, link] : links_)
    if (auto old = link.exports.find(what.name);
        link.phase == link_phase::grace && link.peer == from.peer && old != link.exports.end())
      for (const auto& each : std::exchange(old->second.vouchers, {}))
        add_voucher(record->second, each);
  send(from.number, reclaimed{what.request, what.name});
}

void ledger::on(link_record& from, const reclaimed& what) {
  auto asked = answers(from, what.request, open_request::kind::reclaim);
  if (asked == question::never_asked || (asked == question::open && from.requests.at(what.request).name != what.name))
    return violated(from.number, "answered a question that was not asked");
  if (asked == question::given_up)
    return send(from.number, release{what.name, 1});
  auto about = close(from, what.request).about;
  auto* which = find(about);
  if (which == nullptr || which->reclaiming != from.number)
    return send(from.number, release{what.name, 1}); // Not wanted any more.
  links_.at(which->link).imports.erase(what.name);
  which->reclaiming = 0;
  auto [known, is_new] = from.imports.try_emplace(what.name, about);
  if (is_new) {
    which->link = from.number;
    which->count = 1;
    return advance(about);
  }
  which->link = 0; // It was sent anew meanwhile.
  auto& other = at(known->second);
  ++other.count;
  ++other.references;
  if (other.state == entry_state::here)
    release_count(other);
  move_to(about, known->second);
}

void ledger::on(link_record& from, const refused& what) {
  auto asked = from.requests.find(what.request);
  bool was_asked = what.request != 0 && what.request <= from.last_request;
  if (!was_asked || !may_refuse(what.reason))
    return violated(from.number, "refused what was not asked, or for a reason that it cannot have");
  if (asked == from.requests.end())
    return; // Given up meanwhile.
  auto [kind, about, name, token, deadline] = close(from, what.request);
  auto* which = find(about);
  if (which == nullptr)
    return;
  switch (kind) {
  case open_request::kind::adopt:
    if (which->adopting == from.number)
      end_adoption(about, token);
    return;
  case open_request::kind::reclaim:
    if (which->reclaiming == from.number)
      lose_source(about);
    return;
  case open_request::kind::pull:
    which->fetch->request = 0;
    return fail(about, {what.reason});
  }
}

} // namespace troupe::internal::handles
