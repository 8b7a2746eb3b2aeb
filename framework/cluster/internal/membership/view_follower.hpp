// Keeps a view of a cluster up to date.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include <troupe/framework/cluster/cluster_member.hpp>
#include <troupe/framework/cluster/directory.hpp>
#include <troupe/framework/cluster/internal/membership/cluster_view.hpp>
#include <troupe/framework/cluster/internal/membership/retry_pause.hpp>

namespace troupe::membership {

/// Reads a directory once and then watches it. If the watch is lost, tries again until the directory answers. What is
/// known stays meanwhile.
///
/// Threads: any.
class view_follower {
public:
  /// Gets each batch of changes in order, one batch at a time, and the view, which already has them. The first call may
  /// come before the constructor has returned. It must return soon, and must not destroy the follower.
  using handler = std::function<void(const cluster_view::events&, const cluster_view&)>;

  /// `kept`: a member that the view never skips.
  view_follower(std::shared_ptr<directory> where, handler on_events, std::string kept = {});
  view_follower(const view_follower&) = delete;
  view_follower& operator=(const view_follower&) = delete;
  /// Afterwards the handler is not called any more. Requires: the directory is closed, or a request ends soon.
  ~view_follower();

  /// Waits until the directory was read for the first time. Fails with why it could not be read.
  [[nodiscard]] std::expected<void, directory_error> wait_until_read(std::chrono::steady_clock::time_point until);

  /// What others have seen of the directory: why it does not answer, which a watch may not notice; nullopt: it does.
  void note_outage(const std::optional<directory_error>& seen);

  /// Why the directory does not answer; nullopt if it does.
  [[nodiscard]] std::optional<directory_error> trouble() const;

  /// Waits until the view is so. False if it was not in time.
  [[nodiscard]] bool wait_until(const std::function<bool(const cluster_view&)>& is_so,
                                std::chrono::steady_clock::time_point until);

  /// Calls `read` with the view.
  template <class Read>
  [[nodiscard]] auto with_view(Read read) const {
    const std::lock_guard guard{mutex_};
    return read(std::as_const(view_));
  }

  /// Calls `call` between two batches with the view, so that it misses no change after what it has read.
  void between_batches(const std::function<void(const cluster_view&)>& call) const;

private:
  void run();
  [[nodiscard]] std::expected<std::uint64_t, directory_error> read_all();
  void follow(std::uint64_t revision);
  void tell(const cluster_view::events& all) const;
  void lose(const directory_error& why);
  [[nodiscard]] bool is_away() const { return trouble_ || outage_; } // With the lock.
  void pause();

  const std::shared_ptr<directory> where_;
  const handler on_events_;

  mutable std::mutex telling_; // Held while a batch is taken over and told; before mutex_.
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  cluster_view view_; // Changed with both locks, so that each of them suffices for reading it.
  // Guarded by mutex_.
  bool was_read_ = false;
  std::optional<directory_error> trouble_; // Set while the directory does not answer.
  std::optional<directory_error> outage_;  // Of note_outage().
  std::optional<directory_error> watch_end_;
  retry_pause retry_;
  bool ends_ = false;

  std::thread thread_;
};

} // namespace troupe::membership
