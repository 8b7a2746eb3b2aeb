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

/// Remembers each link that a node has had: those that live, and of those that have ended the figures.
///
/// Threads: any.
template <class Link>
class link_registry final : public link_book<Link> {
public:
  /// What all links together have done.
  struct figures {
    link_stats sums;
    std::uint64_t links_opened = 0;
    std::uint64_t peers_refused = 0;
    std::uint64_t links_open = 0;
  };

  /// False after `close`.
  [[nodiscard]] bool add(const std::shared_ptr<Link>& link) {
    std::lock_guard guard{mutex_};
    if (is_closed_)
      return false;
    links_.push_back(link);
    return true;
  }

  void ended(Link* link) override {
    std::shared_ptr<Link> dropped; // Outside of the lock.
    std::lock_guard guard{mutex_};
    const auto found = std::ranges::find(links_, link, &std::shared_ptr<Link>::get);
    if (found == links_.end())
      return;
    internal::add(ended_, link->final_stats()); // With the lock held, so that no sum has them twice, or not at all.
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

  /// Those too that are not open yet, or end.
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

  /// The open link of that serial number; null where there is none.
  [[nodiscard]] std::shared_ptr<Link> find(std::uint64_t serial) const {
    std::lock_guard guard{mutex_};
    const auto found = std::ranges::find(links_, serial, &Link::serial);
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
      // First: what a link counts from now on is its own, for this time.
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
      if (!is_open) // It is being closed, or not open yet.
        clear_gauges(own);
      internal::add(result.sums, own);
      result.links_open += is_open ? 1 : 0;
    }
    return result;
  }

  /// No other link comes in. Gives those that are there.
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
  mutable std::mutex mutex_; // Under it a link's own lock is taken.
  mutable std::condition_variable changed_;
  // Guarded by mutex_.
  std::vector<std::shared_ptr<Link>> links_;
  bool is_closed_ = false;
  link_stats ended_; // The sums.

  mutable std::mutex late_mutex_; // Under it no other is taken: links note with their own lock held.
  link_stats late_;               // Guarded by late_mutex_.
  std::atomic<std::uint64_t> links_opened_{0};
  std::atomic<std::uint64_t> peers_refused_{0};
};

} // namespace troupe::internal
