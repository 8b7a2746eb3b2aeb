// The summary: rows copied in batches under the lock, then connected without it.
#include <troupe/store/internal/attachment.hpp>
#include <troupe/store/internal/clock.hpp>

#include <algorithm>
#include <unordered_map>

namespace troupe::store::internal {

namespace {

[[nodiscard]] pid_t pid_of(control_view view, std::uint32_t slot) {
  return static_cast<pid_t>(view.slot(slot).pid.load());
}

[[nodiscard]] std::vector<pid_t> pids_of(control_view view, const slot_bits& bits) {
  auto pids = std::vector<pid_t>{};
  for (auto slot = std::uint32_t{0}; slot < slots_max; ++slot)
    if (has_bit(bits, slot))
      pids.push_back(pid_of(view, slot));
  return pids;
}

/// Requires: the lock is held, the row is not free.
[[nodiscard]] object_row copy_row(control_view view, std::uint32_t index, std::int64_t now) {
  const auto& entry = view.object(index);
  const auto store = view.header().store_number;
  auto row = object_row{};
  row.id = {store, index, entry.generation.load()};
  row.size_bytes = entry.size_bytes.load();
  row.metadata_bytes = entry.metadata_bytes;
  row.state = entry.state.load();
  row.creator = static_cast<pid_t>(entry.creator_pid);
  row.age = std::chrono::nanoseconds{now - entry.created_ns};
  row.holders = pids_of(view, entry.holders);
  row.pinned_by = pids_of(view, entry.pinners);
  for (auto at = entry.first_edge; at != no_row; at = view.edge(at).next)
    row.captures.push_back({store, view.edge(at).inner_index, view.edge(at).inner_generation});
  for (auto at = entry.first_flight.load(); at != no_row; at = view.flight(at).next) {
    const auto& flight = view.flight(at);
    row.in_flight.push_back(
        {static_cast<pid_t>(flight.from_pid), pid_of(view, flight.to_slot), flight.channel, flight.count.load()});
  }
  return row;
}

[[nodiscard]] std::expected<void, store_error> count_spill_files(control_view view, const opened_store& store,
                                                                 store_summary& summary) {
  summary.spill_directory = view.spill_directory();
  const auto guard = lock_table(view, store.self.slot, store.settings.lock_timeout);
  if (!guard)
    return std::unexpected(guard.error());
  for (auto at = std::uint32_t{0}; at < view.header().spill_files.used; ++at) {
    const auto& file = view.spill_file(at);
    if (file.state.load() != spill_file_state::complete)
      continue;
    ++summary.spill_files;
    summary.disk_bytes += file.size_bytes;
  }
  return {};
}

void connect_captures(std::vector<object_row>& rows) {
  auto position = std::unordered_map<object_id, std::size_t>{};
  for (auto at = std::size_t{0}; at < rows.size(); ++at)
    position.emplace(rows[at].id, at);
  for (const auto& outer : rows)
    for (const auto& inner : outer.captures)
      if (const auto found = position.find(inner); found != position.end())
        rows[found->second].captured_by.push_back(outer.id);
}

} // namespace

std::expected<store_summary, store_error> collect_summary(control_view view, const opened_store& store) {
  constexpr auto batch = std::uint32_t{256};
  const auto& header = view.header();
  const auto now = monotonic_ns();
  auto summary = store_summary{};
  summary.name = store.settings.name;
  summary.number = header.store_number;
  summary.capacity_bytes = header.capacity_bytes;
  for (auto first = std::uint32_t{0};; first += batch) {
    const auto guard = lock_table(view, store.self.slot, store.settings.lock_timeout);
    if (!guard)
      return std::unexpected(guard.error());
    summary.bytes_in_use = header.bytes_in_use;
    summary.high_water_bytes = header.high_water_bytes;
    summary.objects = header.live_objects;
    summary.spilled_objects = header.spilled_objects;
    summary.spilled_bytes = header.spilled_bytes;
    summary.waiting = header.waiters.used - header.waiters.free_rows;
    const auto used = header.objects.used;
    for (auto index = first; index < std::min(first + batch, used); ++index)
      if (view.object(index).state.load() != object_state::free)
        summary.rows.push_back(copy_row(view, index, now));
    if (first + batch >= used)
      break;
  }
  summary.committed_bytes = header.data_committed.load();
  for (auto slot = std::uint32_t{0}; slot < slots_max; ++slot)
    if (view.slot(slot).state.load() != slot_state::free)
      summary.processes.push_back(pid_of(view, slot));
  if (auto counted = count_spill_files(view, store, summary); !counted)
    return std::unexpected(counted.error());
  connect_captures(summary.rows);
  return summary;
}

} // namespace troupe::store::internal
