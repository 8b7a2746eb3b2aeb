#include <troupe/framework/cluster/internal/host/change_batch.hpp>

#include <utility>

namespace troupe::cluster_directories {

change_batch read_batch(records& rows, std::string_view prefix, std::uint64_t first_revision) {
  const auto head = rows.head();
  change_batch batch{.changes = {}, .through = head.revision, .is_compacted = first_revision <= head.compacted};
  if (batch.is_compacted || first_revision > head.revision)
    return batch;
  std::size_t bytes = 0;
  rows.each_change(prefix, first_revision, head.revision, [&](directory_change change) {
    const auto is_full = batch.changes.size() >= change_batch::changes_max || bytes >= change_batch::bytes_max;
    if (is_full && batch.changes.back().entry.changed_revision != change.entry.changed_revision) {
      batch.through = batch.changes.back().entry.changed_revision;
      return false;
    }
    bytes += records::bytes_of(change);
    batch.changes.push_back(std::move(change));
    return true;
  });
  return batch;
}

} // namespace troupe::cluster_directories
