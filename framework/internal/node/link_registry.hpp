// The links of a node.
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include <troupe/framework/internal/link/link_host.hpp>
#include <troupe/framework/internal/link/link_totals.hpp>
#include <troupe/framework/link_stats.hpp>

namespace troupe::internal {

/// Remembers all links that a node has had: those that live, and the counters of those that have ended.
///
/// Threads: any.
template <class Link>
class link_registry final : public link_book<Link> {
public:
  /// The sums over all links.
  struct figures {
    link_stats sums;
    std::uint64_t links_opened = 0;
    std::uint64_t peers_refused = 0;
    std::uint64_t links_open = 0;
  };

  /// Returns false after `close`.
  [[nodiscard]] bool add(const std::shared_ptr<Link>& link) {
    std::lock_guard guard{mutex_};
    if (is_closed_)
      return false;
    links_.push_back(link);
    return true;
  }

  void ended(Link* link) override {
    std::shared_ptr<Link> dropped; // Destroyed outside the lock.
    std::lock_guard guard{mutex_};
    const auto found = std::ranges::find(links_, link, &std::shared_ptr<Link>::get);
    if (found == links_.end())
      return;
    internal::add(ended_, link->final_stats()); // Under the lock, so that totals() counts the link exactly once.
    dropped = std::move(*found);
    links_.erase(found);
    changed_.notify_all();
  }

  void note_opened() noexcept override { links_opened_.fetch_add(1, std::memory_order_relaxed); }
  void note_refused_peer() noexcept override { peers_refused_.fetch_add(1, std::memory_order_relaxed); }
  void note_late(const link_stats& more) override {
    std::lock_guard guard{late_mutex_};
    internal::add(late_, more);
  }

  /// All links, including those that are not open yet or are ending.
  [[nodiscard]] std::vector<std::shared_ptr<Link>> all() const {
    std::lock_guard guard{mutex_};
    return links_;
  }

  [[nodiscard]] std::vector<std::shared_ptr<Link>> open() const {
    std::lock_guard guard{mutex_};
    std::vector<std::shared_ptr<Link>> result;
    std::ranges::copy_if(links_, std::back_inserter(result), &Link::is_open);
    return result;
  }

  /// The open link of that serial number; null if there is none.
  [[nodiscard]] std::shared_ptr<Link> find(std::uint64_t serial) const {
    std::lock_guard guard{mutex_};
    const auto found = std::ranges::find(links_, serial, &Link::number);
    return found != links_.end() && (*found)->is_open() ? *found : nullptr;
  }
  [[nodiscard]] caf::strong_actor_ptr recognize(const introduce& what) const override {
    const auto by = find(what.link);
    return by ? by->recognize(what) : nullptr;
  }

  [[nodiscard]] figures totals() const {
    figures result;
    result.links_opened = links_opened_.load(std::memory_order_relaxed);
    result.peers_refused = peers_refused_.load(std::memory_order_relaxed);
    {
      // Read first: figures that come late during this call are counted at most once, in the links' own stats.
      std::lock_guard late{late_mutex_};
      result.sums = late_;
    }
    std::unique_lock guard{mutex_};
    internal::add(result.sums, ended_);
    const auto links = links_;
    guard.unlock();
    for (const auto& link : links) {
      const auto is_open = link->is_open();
      auto own = link->stats();
      if (!is_open) // It is closing, or not open yet.
        clear_gauges(own);
      internal::add(result.sums, own);
      result.links_open += is_open ? 1 : 0;
    }
    return result;
  }

  /// Refuses further links. Returns the present ones.
  std::vector<std::shared_ptr<Link>> close() {
    std::lock_guard guard{mutex_};
    is_closed_ = true;
    return links_;
  }

  [[nodiscard]] bool is_closed() const {
    std::lock_guard guard{mutex_};
    return is_closed_;
  }

  /// Blocks until all links have ended.
  void wait_for_all() const {
    std::unique_lock guard{mutex_};
    changed_.wait(guard, [this] { return links_.empty(); });
  }

private:
  mutable std::mutex mutex_; // Links' own locks are taken while it is held.
  mutable std::condition_variable changed_;
  // Guarded by mutex_.
  std::vector<std::shared_ptr<Link>> links_;
  bool is_closed_ = false;
  link_stats ended_; // Sums of ended links.

  mutable std::mutex late_mutex_; // No other lock is taken under it: links call note_late() with their own lock held.
  link_stats late_;               // Guarded by late_mutex_.
  std::atomic<std::uint64_t> links_opened_{0};
  std::atomic<std::uint64_t> peers_refused_{0};
};

} // namespace troupe::internal
