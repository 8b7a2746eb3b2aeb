#include <troupe/framework/cluster/internal/etcd/watch_progress.hpp>

#include <algorithm>
#include <span>
#include <utility>

namespace troupe::cluster_directories {

void watch_progress::begin_stream() {
  held_.clear();
  held_bytes_ = 0;
}

std::expected<void, std::string> watch_progress::take(etcd_watch_message message) {
  const auto has_changes = !message.changes.empty();
  for (auto& change : message.changes) {
    const auto revision = change.entry.changed_revision;
    if (revision < next_revision_ || (!held_.empty() && revision < held_.back().entry.changed_revision))
      return std::unexpected{"has a change of revision " + std::to_string(revision) + ", which is out of order"};
    held_bytes_ += change.entry.key.size() + change.entry.value.size() + sizeof(change);
    held_.push_back(std::move(change));
  }
  if (held_bytes_ > held_bytes_max)
    return std::unexpected{"has more than " + std::to_string(held_bytes_max) + " bytes of one revision"};
  if (!held_.empty()) {
    const auto last = held_.back().entry.changed_revision;
    const auto first_of_last = std::ranges::lower_bound(
        held_, last, {}, [](const directory_change& change) { return change.entry.changed_revision; });
    deliver(message.is_fragment ? static_cast<std::size_t>(first_of_last - held_.begin()) : held_.size());
  }
  // Without changes, etcd tells that there were none up to this revision.
  if (!has_changes && !message.is_created && !message.is_cancelled && held_.empty())
    next_revision_ = std::max(next_revision_, message.head.revision + 1);
  return {};
}

void watch_progress::deliver(std::size_t count) {
  if (count == 0)
    return;
  std::vector<directory_change> complete{std::make_move_iterator(held_.begin()),
                                         std::make_move_iterator(held_.begin() + static_cast<std::ptrdiff_t>(count))};
  held_.erase(held_.begin(), held_.begin() + static_cast<std::ptrdiff_t>(count));
  held_bytes_ = 0;
  for (const auto& change : held_)
    held_bytes_ += change.entry.key.size() + change.entry.value.size() + sizeof(change);
  next_revision_ = complete.back().entry.changed_revision + 1;
  // The key without a name is the directory's own.
  std::erase_if(complete, [](const directory_change& change) { return change.entry.key.empty(); });
  if (!complete.empty())
    calls_->changes(complete, complete.back().entry.changed_revision);
}

} // namespace troupe::cluster_directories
