#include <troupe/store/internal/table/object_table.hpp>

#include <troupe/store/internal/host/clock.hpp>
#include <troupe/store/internal/host/crash_point.hpp>
#include <troupe/store/internal/table/extents.hpp>
#include <troupe/store/internal/table/hints.hpp>
#include <troupe/store/internal/table/lru_list.hpp>
#include <troupe/store/internal/table/table_rows.hpp>

#include <algorithm>
#include <array>
#include <cassert>
#include <utility>

namespace troupe::store::internal {

outcome object_table::check_room(const creation& wanted) const {
  const auto& header = view_.header();
  if (!has_room(header.objects, 1))
    return outcome::need_objects;
  if (const auto origin = check_origin(wanted.origin); origin != outcome::done)
    return origin;
  return check_captured(wanted.captured);
}

/// Whether all `ids` can be captured. Checked first, so that no later step can fail half-way.
outcome object_table::check_captured(std::span<const object_id> ids) const {
  if (!has_room(view_.header().edges, ids.size()))
    return outcome::need_edges;
  for (const auto& id : ids)
    if (const auto found = look_up(id); found != outcome::done)
      return found;
  return outcome::done;
}

std::optional<std::uint64_t> object_table::take_extent(std::uint64_t length) {
  auto offset = std::uint64_t{0};
  if (length > 0) {
    const auto taken = extent_map(held_).allocate(length);
    if (!taken)
      return std::nullopt;
    offset = *taken;
  }
  reach(crash_point::create_extent_taken);
  auto& header = view_.header();
  header.bytes_in_use += length;
  header.high_water_bytes = std::max(header.high_water_bytes, header.bytes_in_use);
  return offset;
}

/// Frees the extent of an object that leaves memory.
void object_table::return_extent(std::uint32_t index) {
  const auto& row = view_.object(index);
  const auto length = length_of(row);
  lru_list(held_).remove(index);
  if (length > 0)
    extent_map(held_).release(row.offset, length);
  view_.header().bytes_in_use -= length;
}

std::uint32_t object_table::take_object_row() {
  auto& header = view_.header();
  ++header.live_objects;
  return take_free(header.objects, [this](std::uint32_t row) { return view_.object(row).origin_or_next_free; });
}

void object_table::fill_row(std::uint32_t index, const creation& wanted, std::uint64_t offset) {
  auto& row = view_.object(index);
  assert(row.state.load() == object_state::free);
  assert(!is_retired(row));
  store_in_order(row.generation, row.generation.load() + 1); // At least 1: 0 would mean "no object" in an edge.
  row.creator_slot = static_cast<std::uint16_t>(wanted.slot);
  row.creator_pid = wanted.pid;
  row.call_site = wanted.call_site;
  row.offset = offset;
  row.size_bytes.store(wanted.size_bytes, std::memory_order_relaxed);
  row.metadata_bytes = wanted.metadata_bytes;
  row.used.store(0, std::memory_order_relaxed);
  row.place = 0;
  row.spill_file.store(no_row, std::memory_order_relaxed);
  std::atomic_ref{row.spill_checksum}.store(0, std::memory_order_relaxed);
  for (auto* bits : {&row.pinners, &row.outside_pinners})
    for (auto& word : *bits)
      word.store(0, std::memory_order_relaxed);
  row.created_ns = coarse_ns();
  row.captured_by.store(0, std::memory_order_relaxed);
  row.first_flight.store(no_row, std::memory_order_relaxed);
  row.first_edge = no_row;
  row.origin_or_next_free = no_row;
  reach(crash_point::create_row_filled);
}

/// Adds edges behind the existing ones.
void object_table::add_edges(std::uint32_t outer, std::span<const object_id> inner) {
  auto position = static_cast<std::uint32_t>(count_captured(outer));
  for (const auto& id : inner)
    add_edge(outer, id, position++);
}

void object_table::add_edge(std::uint32_t outer, const object_id& inner, std::uint32_t position) {
  auto& table = view_.header().edges;
  const auto at = take_free(table, [this](std::uint32_t row) { return view_.edge(row).next; });
  auto& edge = view_.edge(at);
  edge.outer_index = outer;
  edge.inner_index = inner.index;
  edge.inner_generation = inner.generation;
  edge.position = position;
  reach(crash_point::create_edge_filled);
  store_in_order(edge.outer_generation, view_.object(outer).generation.load());
  reach(crash_point::create_edge_counted);
  edge.next = view_.object(outer).first_edge;
  view_.object(outer).first_edge = at;
  view_.object(inner.index).captured_by.fetch_add(1);
  reach(crash_point::create_edge_written);
}

outcome object_table::capture(std::uint32_t index, std::span<const object_id> ids) {
  assert(view_.object(index).state.load() == object_state::writing);
  assert(count_captured(index) + ids.size() <= captured_max);
  if (const auto checked = check_captured(ids); checked != outcome::done)
    return checked;
  add_edges(index, ids);
  reach(crash_point::capture_finished);
  return outcome::done;
}

std::size_t object_table::count_captured(std::uint32_t index) const {
  auto count = std::size_t{0};
  for (auto at = view_.object(index).first_edge; at != no_row; at = view_.edge(at).next)
    ++count;
  return count;
}

std::size_t object_table::list_captured(std::uint32_t index, std::span<object_id> ids) const {
  auto at = view_.object(index).first_edge;
  if (at == no_row)
    return 0;
  auto edges = std::array<std::pair<std::uint32_t, std::uint32_t>, captured_max>{}; // Position and row.
  auto count = std::size_t{0};
  for (; at != no_row && count < std::min(edges.size(), ids.size()); at = view_.edge(at).next)
    edges[count++] = {view_.edge(at).position, at};
  std::ranges::sort(std::span{edges}.first(count));
  for (auto which = std::size_t{0}; which < count; ++which) {
    const auto& edge = view_.edge(edges[which].second);
    ids[which] = {view_.header().store_number, edge.inner_index, edge.inner_generation};
  }
  return count;
}

void object_table::publish(std::uint32_t index) {
  if (view_.object(index).place == 0)
    lru_list(held_).add(index);
  store_in_order(view_.object(index).state, object_state::writing);
  reach(crash_point::create_published);
}

void object_table::shrink(std::uint32_t index, std::uint64_t size_bytes) {
  auto& row = view_.object(index);
  assert(row.state.load() == object_state::writing);
  assert(size_bytes <= row.size_bytes.load());
  const auto before = length_of(row);
  row.size_bytes.store(size_bytes);
  reach(crash_point::seal_shrunk);
  const auto after = length_of(row);
  if (row.place != 0) {
    auto& file = view_.spill_file(row.spill_file.load());
    file.size_bytes = file.live_bytes = after;
  } else if (after < before) {
    extent_map(held_).release(row.offset + after, before - after);
    view_.header().bytes_in_use -= before - after;
  }
  reach(crash_point::seal_tail_returned);
}

outcome object_table::take_call_site(std::string_view text, std::uint32_t& site) {
  auto& table = view_.header().call_sites;
  text = text.substr(0, sizeof(call_site_entry::text) - 1);
  for (site = 1; site <= table.used; ++site)
    if (text == view_.call_site(site - 1).text.data())
      return outcome::done;
  site = 0;
  if (table.used == table.rows_max)
    return outcome::done;
  if (!has_room(table, 1))
    return outcome::need_call_sites;
  auto& entry = view_.call_site(table.used);
  entry.text.fill(0);
  std::ranges::copy(text, entry.text.begin());
  site = ++table.used;
  return outcome::done;
}

outcome table_reader::look_up(const object_id& id) const {
  const auto& header = view_.header();
  if (id.store != header.store_number || id.index >= header.objects.committed.load() || id.generation == 0)
    return outcome::not_found;
  const auto& row = view_.object(id.index);
  const auto state = row.state.load();
  if (row.generation.load() != id.generation)
    return outcome::not_found;
  if (state == object_state::writing)
    return outcome::unsealed;
  if (state == object_state::free || state == object_state::aborted || unreferenced(id.index))
    return outcome::not_found;
  return row.generation.load() == id.generation ? outcome::done : outcome::not_found;
}

bool object_table::reclaim(std::uint32_t rows_max) {
  auto& hints = view_.hints();
  if (!any_hint(hints))
    return false;
  return take_hints(hints, rows_max, [this](std::uint32_t index) {
    if (index < view_.header().objects.used)
      free_if_unreferenced(index);
  });
}

void object_table::free_if_unreferenced(std::uint32_t index) {
  const auto state = view_.object(index).state.load();
  const auto is_idle =
      state == object_state::sealed || state == object_state::aborted || state == object_state::spilled;
  if (is_idle && unreferenced(index)) // Otherwise the object's writer or worker frees it.
    free_row(index);
}

void object_table::free_unfinished(std::uint32_t index) {
  auto& row = view_.object(index);
  assert(row.state.load() == object_state::writing);
  for (auto& word : row.holders) // Only the dead writer's bit is set.
    word.store(0);
  free_row(index);
}

void object_table::free_row(std::uint32_t index) {
  auto& header = view_.header();
  auto& row = view_.object(index);
  const auto state = row.state.load();
  store_in_order(row.state, object_state::free);
  reach(crash_point::free_marked);
  for (auto at = row.first_edge; at != no_row;) {
    auto& edge = view_.edge(at);
    const auto next = edge.next;
    store_in_order(edge.outer_generation, 0);
    view_.object(edge.inner_index).captured_by.fetch_sub(1);
    give_hint(view_.hints(), edge.inner_index);
    return_free(header.edges, at, edge.next);
    reach(crash_point::free_edge_dropped);
    at = next;
  }
  row.first_edge = no_row;
  drop_origin(index);
  if (lies_in_memory(row, state))
    return_extent(index);
  if (is_spilled(state))
    uncount_spilled(row);
  if (has_copy_on_disk(row))
    leave_spill_file(row);
  reach(crash_point::free_extent_returned);
  --header.live_objects;
  if (!is_retired(row))
    return_free(header.objects, index, row.origin_or_next_free);
  reach(crash_point::free_finished);
}

std::uint32_t object_table::find_flight(const flight_key& key) const {
  auto at = view_.object(key.index).first_flight.load();
  while (at != no_row) {
    const auto& flight = view_.flight(at);
    if (flight.generation == key.generation && flight.from_slot == key.from.slot && flight.from_nonce == key.from.nonce
        && flight.to_slot == key.to.slot && flight.to_nonce == key.to.nonce && flight.channel == key.channel)
      break;
    at = flight.next;
  }
  return at;
}

outcome object_table::add_flight(const flight_key& key, std::uint32_t from_pid) {
  auto& table = view_.header().flights;
  if (!is_attached(key.to))
    return outcome::peer_gone;
  if (const auto known = find_flight(key); known != no_row) {
    view_.flight(known).count.fetch_add(1);
    reach(crash_point::flight_added);
    return outcome::done;
  }
  if (!has_room(table, 1))
    return outcome::need_flights;
  const auto at = take_free(table, [this](std::uint32_t row) { return view_.flight(row).next; });
  auto& flight = view_.flight(at);
  flight.index = key.index;
  flight.generation = key.generation;
  flight.from_slot = key.from.slot;
  flight.from_nonce = key.from.nonce;
  flight.from_pid = from_pid;
  flight.to_slot = key.to.slot;
  flight.to_nonce = key.to.nonce;
  flight.channel = key.channel;
  reach(crash_point::flight_filled);
  store_in_order(flight.count, 1);
  reach(crash_point::flight_counted);
  auto& row = view_.object(key.index);
  flight.next = row.first_flight.load();
  row.first_flight.store(at);
  reach(crash_point::flight_added);
  return outcome::done;
}

void object_table::take_flight(std::uint32_t flight) {
  auto& entry = view_.flight(flight);
  assert(entry.count.load() > 0);
  const auto left = entry.count.fetch_sub(1) - 1;
  reach(crash_point::adopt_uncounted);
  if (left == 0)
    unchain_flight(flight);
}

void object_table::drop_flight(std::uint32_t flight) {
  auto& entry = view_.flight(flight);
  assert(entry.count.load() > 0);
  store_in_order(entry.count, 0);
  reach(crash_point::flight_dropped);
  unchain_flight(flight);
}

void object_table::unchain_flight(std::uint32_t flight) {
  auto& entry = view_.flight(flight);
  auto& row = view_.object(entry.index);
  auto at = row.first_flight.load();
  if (at == flight) {
    row.first_flight.store(entry.next);
  } else {
    while (view_.flight(at).next != flight)
      at = view_.flight(at).next;
    view_.flight(at).next = entry.next;
  }
  give_hint(view_.hints(), entry.index);
  return_free(view_.header().flights, flight, entry.next);
}

} // namespace troupe::store::internal
