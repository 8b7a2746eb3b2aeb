// What a link's loss does, what a new one brings back, and adoption by token.
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
  reclaim_over(made->second);
  for (std::uint32_t index = 0; index < entries_.size(); ++index) {
    const auto& each = entries_[index];
    if (each.state == entry_state::remote && each.adopting == 0 && each.offer && each.offer->exporter == peer)
      ask_adoption({index, each.generation}, made->second);
  }
}

void ledger::link_down(link_number link) {
  auto* found = up_link(link);
  if (found == nullptr)
    return;
  auto& ended = *found;
  ended.phase = link_phase::grace;
  ended.grace_ends = now_ + options_.grace;
  ended.parked.clear();
  ended.unclaimed.clear(); // Abandoned below, with everything else.
  while (!ended.servings.empty())
    end_serving(ended, ended.servings.begin()->first);
  objects_.abandon(link);
  // In the store each importer has its own hold, or an entry in flight: they need no grace.
  for (auto at = ended.exports.begin(); at != ended.exports.end();) {
    auto each = at++;
    if (ended.shares_store && each->first.store != options_.proxy_number)
      drop_export(ended, each);
  }
  for (const auto& [name, what] : std::map{ended.imports}) {
    auto* imported = find(what);
    if (imported == nullptr)
      continue;
    imported->count = 0;
    if (imported->state == entry_state::here)
      forget_import(what);
    else
      restart(what);
  }
  for (const auto& [number, request] : std::exchange(ended.requests, {}))
    if (request.what == open_request::kind::adopt && find(request.about) != nullptr
        && at(request.about).adopting == link)
      end_adoption(request.about);
  if (ended.exports.empty() && ended.imports.empty())
    links_.erase(link);
}

/// A peer that breaks the protocol loses its link, and nothing else happens.
void ledger::violated(link_number link, std::string_view text) {
  want(close_link{link, handle_errc::violation, text});
  link_down(link);
}

void ledger::end_grace(link_number link) {
  auto& ended = links_.at(link);
  while (!ended.exports.empty())
    drop_export(ended, ended.exports.begin());
  for (const auto& [name, what] : std::map{ended.imports}) {
    if (find(what) == nullptr)
      continue;
    forget_import(what);
    forsake(what);
  }
  links_.erase(link);
}

void ledger::on_message(link_number from, const message& what) {
  if (auto* link = up_link(from))
    std::visit([&](const auto& each) { on(*link, each); }, what);
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
  }
  for (auto number : ended)
    end_grace(number);
  expire_fetches();
}

// -- reclaiming

/// Asks for everything that was imported over lost links to the same incarnation of the peer.
void ledger::reclaim_over(link_record& fresh) {
  for (auto& [number, link] : links_) {
    if (link.phase != link_phase::grace || link.peer != fresh.peer)
      continue;
    for (const auto& [name, what] : link.imports) {
      auto request = ++fresh.last_request;
      fresh.requests[request] = {open_request::kind::reclaim, what, name};
      send(fresh.number, reclaim{request, name, number});
    }
  }
}

/// Moves what the peer had under `name` on lost links to `fresh`, where it counts one.
bool ledger::take_from_grace(link_record& fresh, const object_id& name) {
  bool found = false;
  for (auto& [number, link] : links_) {
    if (link.phase != link_phase::grace || link.peer != fresh.peer)
      continue;
    auto record = link.exports.find(name);
    if (record == link.exports.end())
      continue;
    auto taken = std::move(record->second);
    link.exports.erase(record);
    auto [kept, is_new] = fresh.exports.try_emplace(name);
    if (!std::exchange(found, true))
      ++kept->second.count;
    auto& vouchers = kept->second.vouchers;
    vouchers.insert(vouchers.end(), taken.vouchers.begin(), taken.vouchers.end());
    if (is_new) {
      kept->second.what = taken.what;
    } else {
      --at(taken.what).dependents;
      settle(taken.what);
    }
  }
  return found;
}

void ledger::on(link_record& from, const reclaim& what) {
  auto* previous = up_link(what.previous);
  if (previous != nullptr && previous != &from && previous->peer == from.peer) {
    // The peer has seen the end of that link before this node has.
    want(close_link{what.previous, handle_errc::link_down, "the peer has lost this link"});
    link_down(what.previous);
  }
  if (take_from_grace(from, what.name))
    send(from.number, reclaimed{what.request});
  else
    send(from.number, refused{what.request, handle_errc::unknown});
}

void ledger::on(link_record& from, const reclaimed& what) {
  auto asked = from.requests.find(what.request);
  if (asked == from.requests.end() || asked->second.what != open_request::kind::reclaim)
    return violated(from.number, "answered a question that was not asked");
  auto [kind, about, name] = asked->second;
  from.requests.erase(asked);
  auto* which = find(about);
  if (which == nullptr || which->state != entry_state::remote || which->link == 0 || up_link(which->link) != nullptr)
    return send(from.number, release{name, 1}); // Not wanted any more.
  auto [known, is_new] = from.imports.try_emplace(name, about);
  links_.at(which->link).imports.erase(name);
  if (is_new) {
    which->link = from.number;
    which->count = 1;
    advance(about);
    return;
  }
  which->link = 0; // It was sent anew meanwhile.
  auto& other = at(known->second);
  ++other.count;
  ++other.references;
  if (other.state == entry_state::here)
    release_count(other);
  move_to(about, known->second);
}

// -- adoption

/// Looks for a way to the exporter that the offer names.
void ledger::seek_adoption(reference what) {
  auto offer = *at(what).offer;
  if (offer.exporter == options_.self) { // It has come home by another way.
    for (auto& [number, link] : links_) {
      auto record = link.exports.find(offer.name);
      if (record == link.exports.end() || resolve(record->second.what) == what)
        continue;
      auto gone = std::erase_if(record->second.vouchers, [&](const voucher& each) {
        return each.beneficiary == options_.self && each.token == offer.token;
      });
      if (gone == 0)
        continue;
      auto own = record->second.what;
      if (at(what).dependents > 0 && at(resolve(own)).state != entry_state::here)
        continue;
      ++at(own).references;
      return move_to(what, own);
    }
    return;
  }
  for (auto& [number, link] : links_)
    if (link.phase == link_phase::up && link.peer == offer.exporter)
      return ask_adoption(what, link);
  want(connect_to{offer.exporter});
}

void ledger::ask_adoption(reference what, link_record& over) {
  auto& which = at(what);
  auto request = ++over.last_request;
  over.requests[request] = {open_request::kind::adopt, what, {}};
  which.adopting = over.number;
  send(over.number, adopt{request, which.offer->name, which.offer->token});
}

/// There was no answer, or none that helps: the entry stays behind its source, if that is still there.
void ledger::end_adoption(reference what) {
  auto& which = at(what);
  which.adopting = 0;
  if (which.link == 0)
    forsake(what);
}

/// The voucher is used up; its beneficiary gets an export of its own.
void ledger::redeem(link_record& to, request_number request, export_record& from, const node_name& beneficiary,
                    std::uint64_t token) {
  std::erase_if(from.vouchers,
                [&](const voucher& each) { return each.beneficiary == beneficiary && each.token == token; });
  if (auto handle = export_now(to, from.what))
    send(to.number, adopted{request, *std::move(handle)});
  else
    send(to.number, refused{request, handle.error()});
}

void ledger::on(link_record& from, const vouch& what) {
  auto record = from.exports.find(what.name);
  if (record == from.exports.end())
    return violated(from.number, "vouched for what it was never given");
  auto& vouchers = record->second.vouchers;
  std::erase_if(vouchers, [&](const voucher& each) { return each.beneficiary == what.beneficiary; });
  if (vouchers.size() >= options_.vouchers_max)
    vouchers.erase(vouchers.begin());
  vouchers.push_back({what.beneficiary, what.token});
  if (what.beneficiary == options_.self) {
    for (std::uint32_t index = 0; index < entries_.size(); ++index) {
      const auto& each = entries_[index];
      if (each.state == entry_state::remote && each.offer == adoption_offer{options_.self, what.name, what.token})
        seek_adoption({index, each.generation});
    }
    return;
  }
  for (auto& [number, link] : links_) {
    if (link.phase != link_phase::up || link.peer != what.beneficiary)
      continue;
    auto early = std::ranges::find_if(
        link.parked, [&](const parked_adopt& each) { return each.name == what.name && each.token == what.token; });
    if (early == link.parked.end())
      continue;
    auto request = early->request;
    link.parked.erase(early);
    return redeem(link, request, record->second, what.beneficiary, what.token);
  }
}

void ledger::on(link_record& from, const adopt& what) {
  for (auto& [number, link] : links_) {
    auto record = link.exports.find(what.name);
    if (record == link.exports.end())
      continue;
    auto vouched = std::ranges::any_of(record->second.vouchers, [&](const voucher& each) {
      return each.beneficiary == from.peer && each.token == what.token;
    });
    if (vouched)
      return redeem(from, what.request, record->second, from.peer, what.token);
  }
  if (from.parked.size() >= options_.parked_max)
    return send(from.number, refused{what.request, handle_errc::busy});
  from.parked.push_back({what.request, what.name, what.token, now_ + options_.vouch_patience});
}

void ledger::on(link_record& from, const adopted& what) {
  auto asked = from.requests.find(what.request);
  if (asked == from.requests.end() || asked->second.what != open_request::kind::adopt)
    return violated(from.number, "answered a question that was not asked");
  auto about = asked->second.about;
  from.requests.erase(asked);
  auto imported = import_one(from, what.handle);
  if (!imported)
    return violated(from.number, "sent a handle that it could not send");
  auto* which = find(about);
  if (which == nullptr || which->state != entry_state::remote)
    return drop(*imported); // Not wanted any more.
  which->offer.reset();
  auto target = resolve(*imported);
  const auto& onto = at(target);
  bool has_bytes =
      onto.state == entry_state::here || (onto.state == entry_state::remote && onto.mode == handle_mode::mine);
  // While others are behind this entry, it must not get behind something that may be behind them.
  if (target != about && (has_bytes || which->dependents == 0) && onto.state != entry_state::lost) {
    which->adopting = 0;
    return move_to(about, *imported);
  }
  drop(*imported);
  if (find(about) != nullptr)
    end_adoption(about);
}

void ledger::on(link_record& from, const refused& what) {
  auto asked = from.requests.find(what.request);
  if (asked == from.requests.end()) {
    if (what.request == 0 || what.request > from.last_request)
      violated(from.number, "answered a question that was not asked");
    return; // A pull that was cancelled.
  }
  auto [kind, about, name] = asked->second;
  from.requests.erase(asked);
  auto* which = find(about);
  if (which == nullptr || which->state != entry_state::remote)
    return;
  switch (kind) {
  case open_request::kind::adopt:
    which->offer.reset();
    return end_adoption(about);
  case open_request::kind::reclaim:
    if (which->link != 0 && up_link(which->link) == nullptr) {
      forget_import(about);
      forsake(about);
    }
    return;
  case open_request::kind::pull:
    which->fetch->request = 0;
    return fail_fetch(about, what.reason <= handle_errc::violation ? what.reason : handle_errc::unknown);
  }
}

} // namespace troupe::internal::handles
