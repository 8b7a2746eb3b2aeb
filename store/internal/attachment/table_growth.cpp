#include <troupe/store/internal/attachment/table_growth.hpp>

#include <troupe/base/sizes.hpp>

#include <algorithm>
#include <string>

namespace troupe::store::internal {

namespace {

struct growing {
  growing_table& table;
  const char* what;
};

[[nodiscard]] growing table_for(outcome need, control_header& header) {
  switch (need) {
  case outcome::need_objects:
    return {header.objects, "objects"};
  case outcome::need_edges:
    return {header.edges, "captured ids"};
  case outcome::need_spill_files:
    return {header.spill_files, "files of spilled objects"};
  case outcome::need_waiters:
    return {header.waiters, "requests that wait for room"};
  case outcome::need_origins:
    return {header.origins, "origins"};
  case outcome::need_call_sites:
    return {header.call_sites, "call sites"};
  default:
    return {header.flights, "entries in flight"};
  }
}

} // namespace

std::expected<void, store_error> table_growth::grow_or_reap(outcome need, int& failures) {
  auto grown = grow(need);
  if (grown || failures++ > 0)
    return grown;
  if (auto reaped = reaper_.reap(); !reaped)
    return std::unexpected(reaped.error());
  return {};
}

std::expected<void, store_error> table_growth::grow(outcome need) {
  auto& header = files_.view.header();
  const auto [table, what] = table_for(need, header);
  auto have = table.committed.load();
  if (have >= table.rows_max)
    return std::unexpected(
        store_error{store_errc::table_full,
                    "the store's table of " + std::string(what) + " is full: limit " + grouped(table.rows_max)
                        + (need == outcome::need_objects ? "; drop some handles, or raise objects_max" : "")});
  const auto wanted = std::min(have + table.step, table.rows_max);
  const auto commit = [&](std::uint64_t offset, std::uint64_t row_bytes) {
    return commit_pages(files_.control_file, offset + have * row_bytes, offset + wanted * row_bytes);
  };
  if (auto done = commit(table.file_offset, table.row_bytes); !done)
    return done;
  if (need == outcome::need_objects) // There can be as many free extents as objects.
    if (auto done = commit(header.nodes_offset, sizeof(extent_node)); !done)
      return done;
  table.committed.compare_exchange_strong(have, wanted); // Fails if another process was faster.
  return {};
}

} // namespace troupe::store::internal
