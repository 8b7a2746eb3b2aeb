// The summary: rows copied in batches under the lock, then connected without it.
#include <troupe/store/internal/attachment/summaries.hpp>
#include <troupe/store/internal/host/clock.hpp>
#include <troupe/store/internal/table/object_table.hpp>
#include <troupe/store/internal/table/table_lock.hpp>

#include <algorithm>
#include <bit>
#include <functional>
#include <span>

namespace troupe::store::internal {

namespace {

[[nodiscard]] pid_t pid_of(control_view view, std::uint32_t slot) {
  return static_cast<pid_t>(view.slot(slot).pid.load());
}

[[nodiscard]] std::vector<pid_t> pids_of(control_view view, const slot_bits& bits) {
  auto pids = std::vector<pid_t>{};
  for (auto word = std::uint32_t{0}; word < bits.size(); ++word)
    for (auto left = bits[word].load(); left != 0; left &= left - 1)
      pids.push_back(pid_of(view, word * 64 + static_cast<std::uint32_t>(std::countr_zero(left))));
  return pids;
}

/// Requires: the row is not free.
[[nodiscard]] object_row copy_row(table_held held, std::uint32_t index, std::int64_t now) {
  const auto view = held.view();
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
  const auto table = object_table(held);
  row.captures.resize(table.count_captured(index));
  table.list_captured(index, row.captures);
  for (auto at = entry.first_flight.load(); at != no_row; at = view.flight(at).next) {
    const auto& flight = view.flight(at);
    row.in_flight.push_back(
        {static_cast<pid_t>(flight.from_pid), pid_of(view, flight.to_slot), flight.channel, flight.count.load()});
  }
  return row;
}

void copy_totals(table_held held, store_summary& summary) {
  const auto view = held.view();
  const auto& header = view.header();
  summary.bytes_in_use = header.bytes_in_use;
  summary.high_water_bytes = header.high_water_bytes;
  summary.objects = header.live_objects;
  summary.spilled_objects = header.spilled_objects;
  summary.spilled_bytes = header.spilled_bytes;
  const auto table = object_table(held);
  for (auto at = std::uint32_t{0}; at < header.waiters.used; ++at) { // Later waiters remove the dead ones' entries.
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

[[nodiscard]] store_summary begin_summary(const mapped_store& files, const std::string& name) {
  const auto& header = files.view.header();
  auto summary = store_summary{};
  summary.name = name;
  summary.number = header.store_number;
  summary.capacity_bytes = header.capacity_bytes;
  summary.committed_bytes = bytes_taken(files.data_file);
  summary.spill_directory = files.view.spill_directory();
  return summary;
}

void copy_rows(table_held held, std::uint32_t first, std::uint32_t end, std::int64_t now, store_summary& summary) {
  const auto view = held.view();
  for (auto index = first; index < std::min(end, view.header().objects.used); ++index)
    if (view.object(index).state.load() != object_state::free)
      summary.rows.push_back(copy_row(held, index, now));
}

void copy_processes(control_view view, store_summary& summary) {
  for (auto slot = std::uint32_t{0}; slot < slots_max; ++slot)
    if (view.slot(slot).state.load() != slot_state::free)
      summary.processes.push_back(pid_of(view, slot));
}

/// Null if the object is not listed. Requires: `rows` are in the order of the table.
[[nodiscard]] object_row* find_row(std::vector<object_row>& rows, const object_id& id) {
  const auto found = std::ranges::lower_bound(rows, id.index, {}, [](const object_row& row) { return row.id.index; });
  return found != rows.end() && found->id == id ? &*found : nullptr;
}

void connect_captures(std::vector<object_row>& rows) {
  for (const auto& outer : rows)
    for (const auto& inner : outer.captures)
      if (auto* const row = find_row(rows, inner))
        row->captured_by.push_back(outer.id);
}

} // namespace

store_summary collect_summary_of_left(const mapped_store& files, const std::string& name) {
  auto summary = begin_summary(files, name);
  const auto held = table_held::vouched_for(files.view); // No process is attached.
  copy_totals(held, summary);
  copy_rows(held, 0, no_row, monotonic_ns(), summary);
  connect_captures(summary.rows);
  return summary;
}

namespace {

// Rows per hold of the lock.
constexpr auto batch = std::uint32_t{256};

/// Calls `look(held, first, end)` for all used rows of a table, in batches, each under one hold of the lock.
template <class Look>
[[nodiscard]] std::expected<void, store_error> in_batches(control_view view, const opened_store& store,
                                                          const growing_table& table, Look look) {
  for (auto first = std::uint32_t{0};; first += batch) {
    let_others_go_first(view);
    const auto guard = lock_table(view, store.self.slot, store.settings.lock_timeout);
    if (!guard)
      return std::unexpected(guard.error());
    look(table_held{*guard}, first, std::min(first + batch, table.used));
    if (first + batch >= table.used)
      return {};
  }
}

struct candidate {
  std::uint64_t size_bytes;
  std::uint32_t index;
  std::uint32_t generation;
};

/// Collects the `rows_max` largest objects; counts the others as left off.
class largest_objects {
public:
  explicit largest_objects(std::size_t rows_max) : rows_max_(rows_max) {}

  void add(const candidate& one) {
    found_.push_back(one);
    left_off_bytes += one.size_bytes;
    if (found_.size() >= 2 * std::max(rows_max_, std::size_t{batch}))
      cut();
  }

  /// Sorted by row.
  [[nodiscard]] std::vector<candidate> take() {
    cut();
    for (const auto& one : found_)
      left_off_bytes -= one.size_bytes;
    std::ranges::sort(found_, {}, &candidate::index);
    return std::move(found_);
  }

  std::size_t left_off = 0;
  std::size_t left_off_bytes = 0; // Valid after take().

private:
  void cut() {
    if (found_.size() <= rows_max_)
      return;
    const auto end = found_.begin() + static_cast<std::ptrdiff_t>(rows_max_);
    std::ranges::nth_element(found_, end, std::ranges::greater{}, &candidate::size_bytes);
    left_off += found_.size() - rows_max_;
    found_.erase(end, found_.end());
  }

  std::size_t rows_max_;
  std::vector<candidate> found_;
};

[[nodiscard]] std::expected<void, store_error> connect_largest(control_view view, const opened_store& store,
                                                               std::vector<object_row>& rows) {
  const auto& header = view.header();
  return in_batches(view, store, header.edges, [&](table_held, std::uint32_t first, std::uint32_t end) {
    for (auto at = first; at < end; ++at) {
      const auto& edge = view.edge(at);
      const auto generation = edge.outer_generation.load();
      if (generation == 0 || view.object(edge.outer_index).generation.load() != generation
          || view.object(edge.outer_index).state.load() == object_state::free)
        continue;
      if (auto* const row = find_row(rows, {header.store_number, edge.inner_index, edge.inner_generation}))
        row->captured_by.push_back({header.store_number, edge.outer_index, generation});
    }
  });
}

/// Chooses the rows first, then copies them, so that only the listed rows take memory.
[[nodiscard]] std::expected<void, store_error> collect_largest(control_view view, const opened_store& store,
                                                               const summary_query& what, std::int64_t now,
                                                               store_summary& summary) {
  auto largest = largest_objects(what.rows_max);
  auto done =
      in_batches(view, store, view.header().objects, [&](table_held held, std::uint32_t first, std::uint32_t end) {
        if (first == 0)
          copy_totals(held, summary);
        for (auto index = first; index < end; ++index)
          if (const auto& row = view.object(index);
              row.state.load() != object_state::free && (!what.only_own || has_bit(row.holders, store.self.slot)))
            largest.add({row.size_bytes.load(), index, row.generation.load()});
      });
  if (!done)
    return done;
  const auto chosen = largest.take();
  summary.rows_left_off = largest.left_off;
  summary.bytes_left_off = largest.left_off_bytes;
  summary.rows.reserve(chosen.size());
  for (auto at = std::size_t{0}; at < chosen.size(); at += batch) {
    let_others_go_first(view);
    const auto guard = lock_table(view, store.self.slot, store.settings.lock_timeout);
    if (!guard)
      return std::unexpected(guard.error());
    for (const auto& one : std::span{chosen}.subspan(at, std::min<std::size_t>(batch, chosen.size() - at)))
      if (view.object(one.index).generation.load() == one.generation
          && view.object(one.index).state.load() != object_state::free)
        summary.rows.push_back(copy_row(*guard, one.index, now));
  }
  return connect_largest(view, store, summary.rows);
}

} // namespace

std::expected<store_summary, store_error> collect_summary(control_view view, const opened_store& store,
                                                          const summary_query& what) {
  const auto now = monotonic_ns();
  auto summary = begin_summary(store.files, store.settings.name);
  auto done = std::expected<void, store_error>{};
  if (what.only_own || what.rows_max < SIZE_MAX)
    done = collect_largest(view, store, what, now, summary);
  else
    done = in_batches(view, store, view.header().objects, [&](table_held held, std::uint32_t first, std::uint32_t end) {
      if (first == 0)
        copy_totals(held, summary);
      copy_rows(held, first, end, now, summary);
    });
  if (!done)
    return std::unexpected(done.error());
  copy_processes(view, summary);
  if (!what.only_own && what.rows_max == SIZE_MAX)
    connect_captures(summary.rows);
  return summary;
}

std::expected<store_summary, store_error> collect_totals(control_view view, const opened_store& store) {
  auto summary = begin_summary(store.files, store.settings.name);
  let_others_go_first(view);
  const auto guard = lock_table(view, store.self.slot, store.settings.lock_timeout);
  if (!guard)
    return std::unexpected(guard.error());
  copy_totals(*guard, summary);
  copy_processes(view, summary);
  return summary;
}

} // namespace troupe::store::internal
