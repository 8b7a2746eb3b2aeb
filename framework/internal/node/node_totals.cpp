// What a node's links have done, those that are and those that were.
#include <algorithm>
#include <utility>

#include <troupe/framework/internal/link/link_core.hpp>
#include <troupe/framework/internal/link/link_totals.hpp>
#include <troupe/framework/internal/node/node_core.hpp>

namespace troupe::internal {

node_stats node_core::stats() const {
  node_stats result;
  result.name = options_.name;
  result.links_opened = links_opened_.load(std::memory_order_relaxed);
  result.peers_refused = peers_refused_.load(std::memory_order_relaxed);
  {
    // First: what a link counts from now on is its own, for this time.
    std::lock_guard late{late_mutex_};
    result.links = late_;
  }
  std::unique_lock guard{mutex_};
  add(result.links, ended_links_);
  result.names_published = names_.size();
  auto links = links_;
  guard.unlock();
  for (const auto& link : links) {
    const auto is_open = link->is_open();
    auto figures = link->stats();
    if (!is_open) // It is being closed, or not open yet.
      clear_gauges(figures);
    add(result.links, figures);
    result.links_open += is_open ? 1 : 0;
  }
  return result;
}

bool node_core::is_closing() const {
  std::lock_guard guard{mutex_};
  return closing_;
}

void node_core::note_late(const link_stats& more) {
  std::lock_guard guard{late_mutex_};
  add(late_, more);
}

void node_core::link_ended(link_core* link) {
  std::shared_ptr<link_core> dropped; // Outside of the lock.
  std::lock_guard guard{mutex_};
  auto found = std::ranges::find(links_, link, &std::shared_ptr<link_core>::get);
  if (found == links_.end())
    return;
  if (introductions_)
    introductions_->forget(link->serial());
  add(ended_links_, link->settle_stats()); // With the lock held, so that no sum has them twice, or not at all.
  dropped = std::move(*found);
  links_.erase(found);
  links_changed_.notify_all();
}

} // namespace troupe::internal
