#include <troupe/store/internal/table/recovery.hpp>

#include <troupe/store/internal/host/crash_point.hpp>
#include <troupe/store/internal/table/extents.hpp>
#include <troupe/store/internal/table/hints.hpp>
#include <troupe/store/internal/table/lru_list.hpp>
#include <troupe/store/internal/table/object_table.hpp>
#include <troupe/store/internal/table/table_rows.hpp>

#include <algorithm>
#include <bitset>
#include <vector>

namespace troupe::store::internal {

namespace {

using check_result = std::expected<void, std::string>;

struct extent {
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
  std::uint32_t index = 0;
};

[[nodiscard]] bool is_live(const object_row_entry& row) {
  return row.state.load() != object_state::free;
}

[[nodiscard]] bool is_live(const control_view& view, std::uint32_t index, std::uint32_t generation) {
  return index < view.header().objects.used && generation != 0 && is_live(view.object(index))
         && view.object(index).generation.load() == generation;
}

[[nodiscard]] bool is_valid(const control_view& view, const capture_edge& edge) {
  return is_live(view, edge.outer_index, edge.outer_generation.load());
}

/// An entry counts while its object and its receiver live, even if the sender is gone.
[[nodiscard]] bool is_valid(const control_view& view, const flight_entry& flight) {
  return flight.count.load() > 0 && is_live(view, flight.index, flight.generation) && flight.to_slot < slots_max
         && view.slot(flight.to_slot).state.load() != slot_state::free
         && view.slot(flight.to_slot).nonce.load() == flight.to_nonce;
}

/// The extents of all objects in memory, by offset. Fails if two extents overlap or one lies outside the store.
[[nodiscard]] std::expected<std::vector<extent>, std::string> live_extents(const control_view& view) {
  auto found = std::vector<extent>{};
  for (auto index = std::uint32_t{0}; index < view.header().objects.used; ++index) {
    const auto& row = view.object(index);
    const auto length = length_of(row);
    if (lies_in_memory(row) && length > 0)
      found.push_back({row.offset, length, index});
  }
  std::sort(found.begin(), found.end(), [](const extent& a, const extent& b) { return a.offset < b.offset; });
  auto end = std::uint64_t{0};
  for (const auto& piece : found) {
    if (piece.offset < end || piece.offset % alignment_bytes != 0 || piece.length > view.header().capacity_bytes
        || piece.offset > view.header().capacity_bytes - piece.length)
      return std::unexpected("object " + std::to_string(piece.index) + " overlaps another or the end of the store");
    end = piece.offset + piece.length;
  }
  return found;
}

/// Rolls back unfinished evictions.
void end_evictions(const control_view& view) {
  for (auto index = std::uint32_t{0}; index < view.header().objects.used; ++index)
    if (auto& row = view.object(index); row.state.load() == object_state::evicting)
      row.state.store(object_state::sealed);
}

/// Orders the objects by their stamps, because the list itself is lost.
void rebuild_lru(table_held held) {
  const auto view = held.view();
  auto found = std::vector<std::pair<std::uint64_t, std::uint32_t>>{};
  for (auto index = std::uint32_t{0}; index < view.header().objects.used; ++index)
    if (const auto& row = view.object(index); lies_in_memory(row))
      found.emplace_back(row.last_used.load(), index);
  std::ranges::sort(found);
  const auto list = lru_list(held);
  list.clear();
  for (const auto& [stamp, index] : found)
    list.append(index);
}

void rebuild_spill_files(const control_view& view) {
  auto& header = view.header();
  auto& table = header.spill_files;
  table.first_free = no_row;
  table.free_rows = 0;
  for (auto at = table.used; at-- > 0;) {
    auto& file = view.spill_file(at);
    file.live_objects = 0;
    file.live_bytes = 0;
    if (file.state.load() == spill_file_state::free)
      return_free(table, at, file.next_free);
  }
  header.spilled_objects = 0;
  header.spilled_bytes = 0;
  for (auto index = std::uint32_t{0}; index < header.objects.used; ++index) {
    const auto& row = view.object(index);
    if (!is_live(row) || !has_copy_on_disk(row))
      continue;
    auto& file = view.spill_file(row.spill_file);
    ++file.live_objects;
    file.live_bytes += length_of(row);
    if (!is_spilled(row.state.load()))
      continue;
    ++header.spilled_objects;
    header.spilled_bytes += length_of(row);
  }
  header.spill_files_to_remove.store(1);
}

void rebuild_waiters(const control_view& view) {
  auto& table = view.header().waiters;
  table.first_free = no_row;
  table.free_rows = 0;
  for (auto at = table.used; at-- > 0;)
    if (auto& waiter = view.waiter(at); waiter.ticket.load() == 0)
      return_free(table, at, waiter.next_free);
}

void rebuild_objects(const control_view& view) {
  auto& header = view.header();
  header.objects.first_free = no_row;
  header.objects.free_rows = 0;
  header.live_objects = 0;
  for (auto index = header.objects.used; index-- > 0;) { // In descending order, so that low rows are used first.
    auto& row = view.object(index);
    row.first_edge = no_row;
    row.first_flight.store(no_row);
    row.captured_by.store(0);
    if (is_live(row)) {
      row.origin_or_next_free = no_row;
      ++header.live_objects;
      continue;
    }
    for (auto& word : row.holders)
      word.store(0);
    for (auto& word : row.pinners)
      word.store(0);
    if (is_retired(row))
      continue;
    row.origin_or_next_free = header.objects.first_free;
    header.objects.first_free = index;
    ++header.objects.free_rows;
  }
}

void rebuild_edges(const control_view& view) {
  auto& table = view.header().edges;
  table.first_free = no_row;
  table.free_rows = 0;
  for (auto at = table.used; at-- > 0;) {
    auto& edge = view.edge(at);
    if (is_valid(view, edge)) {
      auto& outer = view.object(edge.outer_index);
      edge.next = outer.first_edge;
      outer.first_edge = at;
      view.object(edge.inner_index).captured_by.fetch_add(1);
      continue;
    }
    edge.outer_generation.store(0);
    edge.next = table.first_free;
    table.first_free = at;
    ++table.free_rows;
  }
}

void rebuild_flights(const control_view& view) {
  auto& table = view.header().flights;
  table.first_free = no_row;
  table.free_rows = 0;
  for (auto at = table.used; at-- > 0;) {
    auto& flight = view.flight(at);
    if (is_valid(view, flight)) {
      auto& row = view.object(flight.index);
      flight.next = row.first_flight.load();
      row.first_flight.store(at);
      continue;
    }
    flight.count.store(0);
    flight.next = table.first_free;
    table.first_free = at;
    ++table.free_rows;
  }
}

void rebuild_origins(table_held held) {
  const auto view = held.view();
  auto& table = view.header().origins;
  table.first_free = no_row;
  table.free_rows = 0;
  for (auto bucket = std::uint32_t{0}; bucket < origin_buckets; ++bucket)
    view.origin_bucket(bucket) = no_row;
  for (auto at = table.used; at-- > 0;) {
    auto& origin = view.origin(at);
    if (is_live(view, origin.index, origin.generation.load())) {
      auto& bucket = object_table(held).bucket_of({origin.high, origin.low});
      origin.next = bucket;
      bucket = at;
      view.object(origin.index).origin_or_next_free = at;
      continue;
    }
    origin.generation.store(0);
    return_free(table, at, origin.next);
  }
}

[[nodiscard]] std::string difference(const char* what, std::uint64_t is, std::uint64_t should_be) {
  return std::string(what) + ": " + std::to_string(is) + " is recorded, " + std::to_string(should_be) + " is correct";
}

[[nodiscard]] check_result verify_extents(table_held held) {
  const auto view = held.view();
  auto live = live_extents(view);
  if (!live)
    return std::unexpected(live.error());
  auto bytes = std::uint64_t{0};
  for (const auto& piece : *live)
    bytes += piece.length;
  if (bytes != view.header().bytes_in_use)
    return std::unexpected(difference("bytes in use", view.header().bytes_in_use, bytes));
  extent_map(held).for_each([&](std::uint64_t offset, std::uint64_t length) {
    live->push_back({offset, length, no_row});
  });
  std::sort(live->begin(), live->end(), [](const extent& a, const extent& b) { return a.offset < b.offset; });
  auto end = std::uint64_t{0};
  auto previous_free = false;
  for (const auto& piece : *live) { // Used and free pieces must tile the file up to data_top.
    const auto is_free = piece.index == no_row;
    if (piece.offset != end)
      return std::unexpected(difference("next extent's offset", piece.offset, end));
    if (is_free && previous_free)
      return std::unexpected("two free extents side by side at " + std::to_string(piece.offset));
    end = piece.offset + piece.length;
    previous_free = is_free;
  }
  if (previous_free || end != view.header().data_top)
    return std::unexpected(difference("end of used bytes", view.header().data_top, end));
  return {};
}

[[nodiscard]] check_result verify_lru(table_held held) {
  const auto view = held.view();
  const auto& header = view.header();
  auto in_memory = std::uint64_t{0};
  for (auto index = std::uint32_t{0}; index < header.objects.used; ++index)
    in_memory += lies_in_memory(view.object(index)) ? 1 : 0;
  auto listed = std::uint64_t{0};
  auto before = no_row;
  for (auto at = header.lru_first; at != no_row && listed <= in_memory; at = view.object(at).lru_after) {
    if (!lies_in_memory(view.object(at)) || view.object(at).lru_before != before)
      return std::unexpected("the list of objects in memory is broken at object " + std::to_string(at));
    before = at;
    ++listed;
  }
  if (listed != in_memory || header.lru_last != before)
    return std::unexpected(difference("objects in memory", listed, in_memory));
  return {};
}

[[nodiscard]] check_result verify_spilled(table_held held) {
  const auto view = held.view();
  const auto& header = view.header();
  struct contents {
    std::uint32_t objects = 0;
    std::uint64_t bytes = 0;
  };
  auto files = std::vector<contents>(header.spill_files.used);
  auto objects = std::uint64_t{0};
  auto bytes = std::uint64_t{0};
  for (auto index = std::uint32_t{0}; index < header.objects.used; ++index) {
    const auto& row = view.object(index);
    if (is_live(row) && is_spilled(row.state.load()) && !has_copy_on_disk(row))
      return std::unexpected("object " + std::to_string(index) + " lies neither in memory nor on disk");
    if (!is_live(row) || !has_copy_on_disk(row))
      continue;
    if (row.spill_file >= files.size())
      return std::unexpected("object " + std::to_string(index) + " lies in a spill file that is not there");
    const auto& file = view.spill_file(row.spill_file);
    const auto state = file.state.load();
    if (state != spill_file_state::complete)
      return std::unexpected("object " + std::to_string(index) + " lies in a spill file that is gone");
    if (row.spill_offset + length_of(row) > file.size_bytes)
      return std::unexpected("object " + std::to_string(index) + " reaches beyond its spill file");
    ++files[row.spill_file].objects;
    files[row.spill_file].bytes += length_of(row);
    if (!is_spilled(row.state.load()))
      continue;
    ++objects;
    bytes += length_of(row);
  }
  auto free_files = std::uint32_t{0};
  for (auto at = std::uint32_t{0}; at < files.size(); ++at) {
    const auto& file = view.spill_file(at);
    free_files += file.state.load() == spill_file_state::free ? 1 : 0;
    if (file.state.load() == spill_file_state::free)
      continue;
    if (file.live_objects != files[at].objects)
      return std::unexpected(difference("objects in a spill file", file.live_objects, files[at].objects));
    if (file.live_bytes != files[at].bytes)
      return std::unexpected(difference("bytes in a spill file", file.live_bytes, files[at].bytes));
  }
  if (free_files != header.spill_files.free_rows)
    return std::unexpected(difference("free spill files", header.spill_files.free_rows, free_files));
  if (objects != header.spilled_objects)
    return std::unexpected(difference("spilled objects", header.spilled_objects, objects));
  if (bytes != header.spilled_bytes)
    return std::unexpected(difference("spilled bytes", header.spilled_bytes, bytes));
  return {};
}

[[nodiscard]] check_result verify_waiters(table_held held) {
  const auto view = held.view();
  const auto& table = view.header().waiters;
  auto free_rows = std::uint32_t{0};
  for (auto at = std::uint32_t{0}; at < table.used; ++at)
    free_rows += view.waiter(at).ticket.load() == 0 ? 1 : 0;
  if (free_rows != table.free_rows)
    return std::unexpected(difference("free places for waiters", table.free_rows, free_rows));
  return {};
}

/// Checks that each origin belongs to one living object, which refers to the origin, and that lookups find it.
[[nodiscard]] check_result verify_origins(table_held held) {
  const auto view = held.view();
  const auto& header = view.header();
  const auto& table = header.origins;
  auto free_rows = std::uint32_t{0};
  for (auto at = std::uint32_t{0}; at < table.used; ++at) {
    const auto& origin = view.origin(at);
    if (origin.generation.load() == 0) {
      ++free_rows;
      continue;
    }
    if (!is_live(view, origin.index, origin.generation.load()) || view.object(origin.index).origin_or_next_free != at)
      return std::unexpected("origin " + std::to_string(at) + " is of an object that does not have it");
    if (object_table(held).find_origin({origin.high, origin.low}) != at)
      return std::unexpected("origin " + std::to_string(at) + " is not found, or another object's too");
  }
  if (free_rows != table.free_rows)
    return std::unexpected(difference("free origins", table.free_rows, free_rows));
  auto given = std::uint32_t{0};
  for (auto index = std::uint32_t{0}; index < header.objects.used; ++index)
    given += is_live(view.object(index)) && view.object(index).origin_or_next_free != no_row ? 1 : 0;
  if (given != table.used - free_rows)
    return std::unexpected(difference("objects with an origin", given, table.used - free_rows));
  return {};
}

/// Checks that the object's chain has all of its edges, each at a position of its own.
[[nodiscard]] check_result verify_captured(const control_view& view, std::uint32_t index, std::uint32_t edges) {
  if (edges > captured_max)
    return std::unexpected(difference("most ids that an object captures", edges, captured_max));
  auto taken = std::bitset<captured_max>{};
  auto chained = std::uint32_t{0};
  for (auto at = view.object(index).first_edge; at != no_row && chained <= edges; at = view.edge(at).next) {
    const auto& edge = view.edge(at);
    if (edge.outer_index != index || edge.position >= edges || taken.test(edge.position))
      return std::unexpected("captured id " + std::to_string(at) + " has no place of its own in its object");
    taken.set(edge.position);
    ++chained;
  }
  if (chained != edges)
    return std::unexpected(difference("captured ids of an object", chained, edges));
  return {};
}

[[nodiscard]] check_result verify_rows(table_held held) {
  const auto view = held.view();
  const auto& header = view.header();
  auto captured = std::vector<std::uint32_t>(header.objects.used, 0);
  auto edges = std::vector<std::uint32_t>(header.objects.used, 0);
  auto flights = std::vector<std::uint32_t>(header.objects.used, 0);
  auto free_edges = std::uint32_t{0};
  for (auto at = std::uint32_t{0}; at < header.edges.used; ++at) {
    const auto& edge = view.edge(at);
    if (edge.outer_generation.load() == 0)
      ++free_edges;
    else if (!is_valid(view, edge) || !is_live(view, edge.inner_index, edge.inner_generation))
      return std::unexpected("captured id " + std::to_string(at) + " connects objects that are gone");
    else {
      ++captured[edge.inner_index];
      ++edges[edge.outer_index];
    }
  }
  auto free_flights = std::uint32_t{0};
  for (auto at = std::uint32_t{0}; at < header.flights.used; ++at) {
    const auto& flight = view.flight(at);
    if (flight.count.load() == 0)
      ++free_flights;
    else if (!is_valid(view, flight))
      return std::unexpected("entry in flight " + std::to_string(at) + " is of an object or process that is gone");
    else
      ++flights[flight.index];
  }
  if (free_edges != header.edges.free_rows)
    return std::unexpected(difference("free captured ids", header.edges.free_rows, free_edges));
  if (free_flights != header.flights.free_rows)
    return std::unexpected(difference("free entries in flight", header.flights.free_rows, free_flights));
  auto live = std::uint64_t{0};
  auto retired = std::uint64_t{0};
  for (auto index = std::uint32_t{0}; index < header.objects.used; ++index) {
    const auto& row = view.object(index);
    if (!is_live(row)) {
      if (has_any_bit(row.holders))
        return std::unexpected("free row " + std::to_string(index) + " has holders");
      retired += is_retired(row) ? 1 : 0;
      continue;
    }
    ++live;
    if (row.captured_by.load() != captured[index])
      return std::unexpected(difference("captures of an object", row.captured_by.load(), captured[index]));
    if (auto checked = verify_captured(view, index, edges[index]); !checked)
      return checked;
    auto chained = std::uint32_t{0};
    for (auto at = row.first_flight.load(); at != no_row && chained <= flights[index]; at = view.flight(at).next)
      ++chained;
    if (chained != flights[index])
      return std::unexpected(difference("entries in flight of an object", chained, flights[index]));
  }
  if (live != header.live_objects)
    return std::unexpected(difference("objects", header.live_objects, live));
  const auto free_rows = header.objects.used - live - retired;
  if (free_rows != header.objects.free_rows)
    return std::unexpected(difference("free rows", header.objects.free_rows, free_rows));
  return {};
}

} // namespace

std::expected<void, std::string> recover(table_held held) {
  const auto view = held.view();
  reach(crash_point::recover_started);
  end_evictions(view);
  auto live = live_extents(view);
  if (!live)
    return std::unexpected(live.error());
  auto& header = view.header();
  auto extents = extent_map(held);
  extents.clear();
  header.bytes_in_use = 0;
  for (const auto& piece : *live) {
    extents.occupy(piece.offset, piece.length);
    header.bytes_in_use += piece.length;
  }
  header.high_water_bytes = std::max(header.high_water_bytes, header.bytes_in_use);
  reach(crash_point::recover_extents_built);
  rebuild_objects(view);
  rebuild_edges(view);
  rebuild_flights(view);
  rebuild_lru(held);
  rebuild_spill_files(view);
  rebuild_waiters(view);
  rebuild_origins(held);
  reach(crash_point::recover_rows_built);
  for (auto index = std::uint32_t{0}; index < header.objects.used; ++index)
    if (is_live(view.object(index)) && !has_any_bit(view.object(index).holders))
      give_hint(view.hints(), index);
  reach(crash_point::recover_finished);
  return {};
}

std::expected<void, std::string> verify(table_held held) {
  for (const auto& part : {verify_extents, verify_lru, verify_spilled, verify_waiters, verify_origins, verify_rows})
    if (auto checked = part(held); !checked)
      return checked;
  return {};
}

} // namespace troupe::store::internal
