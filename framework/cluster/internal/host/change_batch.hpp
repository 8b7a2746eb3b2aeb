// The changes that a watch gets next.
#pragma once

#include <troupe/framework/cluster/internal/host/records.hpp>

#include <cstdint>
#include <string_view>
#include <vector>

namespace troupe::cluster_directories {

struct change_batch {
  // A call of a handler gets at least one revision, and then no more than this.
  static constexpr std::size_t changes_max = 1'024;
  static constexpr std::size_t bytes_max = 1024 * 1024;

  std::vector<directory_change> changes;
  std::uint64_t through = 0; // The changes up to this revision are in the batch, or came before it.
  bool is_compacted = false; // The first revision is no longer kept; then there are no changes.
};

/// Reads the changes to keys below `prefix` from `first_revision` on, in complete revisions. Throws sqlite_failure.
[[nodiscard]] change_batch read_batch(records& rows, std::string_view prefix, std::uint64_t first_revision);

} // namespace troupe::cluster_directories
