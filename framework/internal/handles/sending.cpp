// Handles on their way out and in: exports, imports, RELEASE, LOST.
#include <troupe/framework/internal/handles/ledger.hpp>

#include <algorithm>
#include <bit>
#include <cassert>
#include <limits>

namespace troupe::internal::handles {

/// What a peer knows an entry by that this node has behind another: the entry's own number.
object_id ledger::proxy_name(reference what) const {
  return {options_.proxy_number, what.index, what.generation};
}

// -- out

std::vector<std::optional<handle_descriptor>> ledger::count_out(link_number to, std::span<const reference> what) {
  return in_event([&] {
    std::vector<std::optional<handle_descriptor>> result(what.size());
    auto* link = up_link(to);
    for (std::size_t i = 0; link != nullptr && i < what.size(); ++i)
      if (auto handle = export_one(*link, what[i], goes::in_message))
        result[i] = *std::move(handle);
    return result;
  });
}

/// Describes it, and counts it. Whoever will be asked to adopt hears of it. Fails with `object_lost`; in an answer also
/// with `busy`.
std::expected<handle_descriptor, handle_errc> ledger::export_one(link_record& to, reference what, goes how) {
  what = resolve(what);
  auto& which = at(what);
  handle_descriptor handle{.size_bytes = which.size_bytes};
  switch (which.state) {
  case entry_state::here:
    if (to.shares_store && how == goes::in_message) { // It is handed over when it is pulled.
      handle.name = proxy_name(what);
      handle.mode = handle_mode::behind;
      break;
    }
    handle.name = which.place;
    handle.mode = to.shares_store ? handle_mode::shared : handle_mode::mine;
    if (to.shares_store && !objects_.hand_over(which.place, to.number))
      return std::unexpected{handle_errc::busy};
    if (!to.shares_store && !which.home)
      which.home = objects_.home_of(which.place);
    break;
  case entry_state::remote:
    if (which.link == to.number) {
      handle.name = which.name;
      handle.mode = handle_mode::yours;
      return handle;
    }
    handle.name = proxy_name(what);
    handle.mode = handle_mode::behind;
    if (how == goes::in_message) // An answer goes one way only.
      leave_mark(what, handle);
    if (const auto* source = up_link(which.link)) {
      handle.offer = adoption_offer{source->peer, which.name, options_.fresh_token()};
      send(source->number, vouch{which.name, to.peer, handle.offer->token});
    }
    break;
  case entry_state::lost:
    return std::unexpected{handle_errc::object_lost};
  case entry_state::free:
  case entry_state::moved:
    assert(!"resolve() gives neither");
    return std::unexpected{handle_errc::unknown};
  }
  if (!(to.shares_store && is_at_home(which)))
    handle.home = which.home;
  (void)count_export(to, handle.name, what);
  return handle;
}

/// Whether its home is this node's store.
bool ledger::is_at_home(const entry& which) {
  return which.home && which.state == entry_state::here && which.home->name == which.place;
}

/// What was put into this store comes back to it, whoever has copied it meanwhile: the original is had, and nobody's
/// copy is needed.
std::optional<reference> ledger::find_at_home(const link_record& from, const handle_descriptor& handle) {
  if (!handle.home || !objects_.hold_at_home(*handle.home, handle.size_bytes))
    return std::nullopt;
  auto own = refer_to(handle.home->name);
  objects_.drop(handle.home->name); // The entry has a hold of its own.
  send(from.number, release{handle.name, 1});
  return own;
}

/// What comes round without being adopted would be behind itself once more with each lap. So a handle brings a mark of
/// one node on its way, which replaces that of another whenever it has come twice as far: whatever the round and how it
/// was come by, the last mark is of a node on it after two laps, or the way there again.
void ledger::leave_mark(reference what, handle_descriptor& described) {
  auto& which = at(what);
  described.hops = which.hops < std::numeric_limits<std::uint32_t>::max() ? which.hops + 1 : which.hops;
  described.mark = which.mark;
  if (which.mark != 0 && !std::has_single_bit(described.hops))
    return;
  while (which.own_mark == 0)
    if (auto fresh = options_.fresh_token(); fresh != 0 && marks_.emplace(fresh, what).second)
      which.own_mark = fresh;
  described.mark = which.own_mark;
}

/// Whether it is an entry that this node has sent on, which it is from now on. Nobody can be behind the new one yet.
bool ledger::come_round(reference what, std::uint64_t mark) {
  auto known = marks_.find(mark);
  const auto& which = at(what);
  if (known == marks_.end() || which.state != entry_state::remote || which.dependents > 0 || which.fetch)
    return false;
  auto target = resolve(known->second);
  auto& onto = at(target);
  bool has_way = onto.state == entry_state::here || onto.parts || up_link(onto.link) != nullptr;
  if (target == what || onto.state == entry_state::lost || !has_way || onto.size_bytes != which.size_bytes)
    return false;
  ++onto.references;
  move_to(what, target);
  return true;
}

export_record& ledger::count_export(link_record& to, const object_id& name, reference what) {
  auto [place, fresh] = to.exports.try_emplace(name);
  auto& record = place->second;
  ++record.count;
  if (fresh) {
    record.what = what;
    record.since = now_;
    ++at(what).dependents;
    exports_of_.emplace(what, to.number, name);
  }
  return record;
}

void ledger::drop_export(link_record& from, export_place which) {
  auto& [name, record] = *which;
  while (auto request = from.servings.first_of(name))
    end_serving(from, *request);
  vouchers_.drop_all_of(from.number, name);
  auto what = record.what;
  exports_of_.erase({what, from.number, name});
  from.exports.erase(which);
  touch(from.number);
  undepend(what);
}

void ledger::on(link_record& from, const release& what) {
  auto record = from.exports.find(what.name);
  if (record == from.exports.end() || what.count == 0 || what.count > record->second.count)
    return violated(from.number, "released more than was exported");
  record->second.count -= what.count;
  record->second.reclaimed = std::min(record->second.reclaimed, record->second.count);
  if (record->second.count == 0)
    drop_export(from, record);
}

// -- in

std::expected<std::vector<reference>, handle_errc> ledger::receive(link_number from,
                                                                   std::span<const handle_descriptor> handles) {
  return in_event([&]() -> std::expected<std::vector<reference>, handle_errc> {
    auto* link = up_link(from);
    if (link == nullptr)
      return std::unexpected{handle_errc::link_down};
    return import_all(*link, handles, came::in_message);
  });
}

/// All of them, one reference each, or none: then the link has ended.
std::expected<std::vector<reference>, handle_errc>
ledger::import_all(link_record& from, std::span<const handle_descriptor> handles, came how) {
  std::vector<reference> result;
  result.reserve(handles.size());
  for (const auto& handle : handles) {
    auto imported = import_one(from, handle, how);
    if (!imported) {
      for (auto each : result)
        unrefer(each);
      violated(from.number, "sent a handle that it could not send");
      return std::unexpected{imported.error()};
    }
    result.push_back(*imported);
  }
  return result;
}

/// Fails with `violation`; the caller ends the link.
std::expected<reference, handle_errc> ledger::import_one(link_record& from, const handle_descriptor& handle, came how) {
  if (handle.mode == handle_mode::yours) {
    auto own = from.exports.find(handle.name);
    if (own == from.exports.end())
      return std::unexpected{handle_errc::violation};
    ++at(own->second.what).references;
    return own->second.what;
  }
  if (handle.mode == handle_mode::shared)
    return import_shared(from, handle);
  bool is_behind = handle.mode == handle_mode::behind;
  bool is_marked = handle.offer || handle.mark != 0 || handle.hops != 0;
  if ((!is_behind && (handle.mode != handle_mode::mine || from.shares_store)) || (is_marked && !is_behind))
    return std::unexpected{handle_errc::violation};
  if (auto own = find_at_home(from, handle))
    return *own;
  auto [what, fresh] = count_import(from, handle, entry_state::remote);
  if (!what.generation)
    return std::unexpected{handle_errc::violation};
  auto& which = at(what);
  if (which.state == entry_state::here) {
    release_count(which); // The replica needs nobody.
  } else if (how == came::in_message && come_round(what, handle.mark)) {
    return what;
  } else if (handle.offer) {
    if (which.adopt_request == 0)
      leave_adoption(what); // Its turn would have been for the offer before.
    set_offer(what, handle.offer);
    which.offered_by = from.number;
    if (which.adopting == 0)
      seek_adoption(what);
  }
  return what;
}

/// One more reference and one more receipt; whether the entry is new. None when the name has another size, or is of
/// what the peer has and has not.
std::pair<reference, bool> ledger::count_import(link_record& from, const handle_descriptor& handle,
                                                entry_state if_new) {
  auto [known, fresh] = from.imports.try_emplace(handle.name);
  if (fresh) {
    known->second = make_entry(if_new);
    auto& made = at(known->second);
    made.link = from.number;
    made.name = handle.name;
    made.mode = handle.mode;
    made.size_bytes = handle.size_bytes;
    made.home = handle.home;
    made.mark = handle.mark;
    made.hops = handle.hops;
  }
  auto& which = at(known->second);
  bool is_behind = handle.mode == handle_mode::behind;
  if (which.size_bytes != handle.size_bytes || (which.mode == handle_mode::behind) != is_behind)
    return {};
  ++which.references;
  ++which.count;
  return {known->second, fresh};
}

/// The count in flight becomes a hold of this node's.
std::expected<reference, handle_errc> ledger::import_shared(link_record& from, const handle_descriptor& handle) {
  if (!from.shares_store || handle.offer)
    return std::unexpected{handle_errc::violation};
  auto adoption = objects_.adopt(handle.name, from.number);
  if (adoption == local_objects::adoption::absent)
    return std::unexpected{handle_errc::violation};
  if (adoption == local_objects::adoption::busy) {
    if (from.unclaimed.size() >= options_.unclaimed_max)
      return std::unexpected{handle_errc::violation};
    from.unclaimed.push_back(handle.name);
    from.pause.begin(end_of_pause());
    send(from.number, release{handle.name, 1});
    auto gone = make_entry(entry_state::lost);
    ++at(gone).references;
    at(gone).size_bytes = handle.size_bytes;
    return gone;
  }
  auto [what, fresh] = handle.size_bytes == objects_.size_of(handle.name)
                           ? count_import(from, handle, entry_state::here)
                           : std::pair{reference{}, false};
  if (!what.generation) {
    objects_.drop(handle.name);
    return std::unexpected{handle_errc::violation};
  }
  auto& which = at(what);
  if (fresh) {
    which.place = handle.name;
  } else if (which.state == entry_state::remote) { // Exported over a link without a store, and reclaimed over this one.
    which.place = handle.name;
    finish_fetch(what);
  } else {
    // It has one hold already, and must not come to depend on what may depend on it by now.
    objects_.drop(handle.name);
    --which.count;
    send(from.number, release{handle.name, 1});
  }
  return what;
}

/// What came when the store was busy is taken out, and nobody wants it.
void ledger::claim(link_record& from) {
  while (!from.unclaimed.empty()) {
    auto place = from.unclaimed.back();
    auto adoption = objects_.adopt(place, from.number);
    if (adoption == local_objects::adoption::busy)
      return from.pause.begin(end_of_pause());
    if (adoption == local_objects::adoption::done)
      objects_.drop(place);
    from.unclaimed.pop_back();
  }
}

void ledger::on(link_record& from, const lost& what) {
  auto known = from.imports.find(what.name);
  if (known == from.imports.end()) // Released meanwhile.
    return;
  if (at(known->second).state == entry_state::remote)
    lose_source(known->second, true);
}

} // namespace troupe::internal::handles
