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
  auto row = object_row{};
  row.id = {view.header().store_number, index, entry.generation.load()};
  row.size_bytes = entry.size_bytes.load();
  row.metadata_bytes = entry.metadata_bytes;
  row.state = entry.state.load();
  row.has_own_file = entry.place != 0;
  row.creator = static_cast<pid_t>(entry.creator_pid);
  row.age = std::chrono::nanoseconds{now - entry.created_ns};
  if (entry.call_site > 0)
    row.call_site = view.call_site(entry.call_site - 1).text.data();
  row.holders = pids_of(view, entry.holders);
  row.pinned_by = pids_of(view, entry.pinners);
  const auto table = object_table(view);
  row.captures.resize(table.count_captured(index));
  table.list_captured(index, row.captures);
  for (auto at = entry.first_flight.load(); at != no_row; at = view.flight(at).next) {
    const auto& flight = view.flight(at);
    row.in_flight.push_back(
        {static_cast<pid_t>(flight.from_pid), pid_of(view, flight.to_slot), flight.channel, flight.count.load()});
  }
  return row;
}

/// Requires: the lock is held, or nobody is attached.
void copy_totals(control_view view, store_summary& summary) {
  const auto& header = view.header();
  summary.bytes_in_use = header.bytes_in_use;
  summary.high_water_bytes = header.high_water_bytes;
  summary.objects = header.live_objects;
  summary.spilled_objects = header.spilled_objects;
  summary.spilled_bytes = header.spilled_bytes;
  const auto table = object_table(view);
  for (auto at = std::uint32_t{0}; at < header.waiters.used; ++at) { // The dead stay until somebody comes behind them.
    const auto& waiter = view.waiter(at);
    if (waiter.ticket.load() != 0 && waiter.expires_ns != 0 && table.is_attached({waiter.slot, waiter.nonce}))
      ++summary.waiting;
  }
  summary.spill_files = 0;
  summary.disk_bytes = 0;
  for (auto at = std::uint32_t{0}; at < header.spill_files.used; ++at) {
    const auto& file = view.spill_file(at);
    if (file.state.load() != spill_file_state::complete || file.live_objects == 0) // About to be removed.
      continue;
    ++summary.spill_files;
    summary.disk_bytes += file.size_bytes;
  }
}

[[nodiscard]] store_summary begin_summary(control_view view, const std::string& name) {
  const auto& header = view.header();
  auto summary = store_summary{};
  summary.name = name;
  summary.number = header.store_number;
  summary.capacity_bytes = header.capacity_bytes;
  summary.committed_bytes = header.data_committed.load();
  summary.spill_directory = view.spill_directory();
  return summary;
}

void copy_rows(control_view view, std::uint32_t first, std::uint32_t end, std::int64_t now, store_summary& summary) {
  for (auto index = first; index < std::min(end, view.header().objects.used); ++index)
    if (view.object(index).state.load() != object_state::free)
      summary.rows.push_back(copy_row(view, index, now));
}

void copy_processes(control_view view, store_summary& summary) {
  for (auto slot = std::uint32_t{0}; slot < slots_max; ++slot)
    if (view.slot(slot).state.load() != slot_state::free)
      summary.processes.push_back(pid_of(view, slot));
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

store_summary collect_summary_of_left(control_view view, const std::string& name) {
  auto summary = begin_summary(view, name);
  copy_totals(view, summary);
  copy_rows(view, 0, no_row, monotonic_ns(), summary);
  connect_captures(summary.rows);
  return summary;
}

std::expected<store_summary, store_error> collect_summary(control_view view, const opened_store& store) {
  constexpr auto batch = std::uint32_t{256};
  const auto now = monotonic_ns();
  auto summary = begin_summary(view, store.settings.name);
  for (auto first = std::uint32_t{0};; first += batch) {
    let_others_go_first(view);
    const auto guard = lock_table(view, store.self.slot, store.settings.lock_timeout);
    if (!guard)
      return std::unexpected(guard.error());
    if (first == 0)
      copy_totals(view, summary);
    copy_rows(view, first, first + batch, now, summary);
    if (first + batch >= view.header().objects.used)
      break;
  }
  copy_processes(view, summary);
  connect_captures(summary.rows);
  return summary;
}

std::expected<store_summary, store_error> collect_totals(control_view view, const opened_store& store) {
  auto summary = begin_summary(view, store.settings.name);
  let_others_go_first(view);
  const auto guard = lock_table(view, store.self.slot, store.settings.lock_timeout);
  if (!guard)
    return std::unexpected(guard.error());
  copy_totals(view, summary);
  copy_processes(view, summary);
  return summary;
}

} // namespace troupe::store::internal
