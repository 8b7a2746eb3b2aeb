// Shares fetches on one host. If several nodes need the same object of an exporter, one of them fetches it. The others
// find it in the store that they share, or wait until it is there.
#pragma once

#include <chrono>
#include <cstdint>
#include <expected>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include <troupe/framework/internal/handles/actions.hpp>
#include <troupe/framework/internal/threads/job_queue.hpp>
#include <troupe/framework/node_errc.hpp>
#include <troupe/store/object_store.hpp>

namespace troupe::internal {

struct replica;

/// The name that all nodes of this host give to an object of another host. It is the same, whichever node fetches the
/// object.
[[nodiscard]] store::object_origin origin_of(const handles::original& what, std::uint64_t size_bytes);

/// Resumes a replica that was left to another process.
class replica_maker {
public:
  virtual ~replica_maker() = default;
  /// Any thread. The other process has stopped writing, or writes too slowly.
  virtual void try_again(const std::shared_ptr<replica>& which) = 0;
};

/// Waits for other processes of this host that are writing objects wanted here.
///
/// Threads: end once; the others on any thread. While the list is not empty, its own thread waits. Locks: its own lock
/// is taken last, except for the store's.
class originals {
public:
  struct patience {
    /// How long another node's fetch of an object may keep this node from fetching it. Higher: saves traffic and memory
    /// if the other node is slow. Lower: saves time. Must be less than `ledger_options::pull_patience`.
    std::chrono::nanoseconds whole = std::chrono::seconds(30);
    /// After this time without progress, the other node is assumed to be stopped, or its link stalled. It is not waited
    /// for any more.
    std::chrono::nanoseconds stall = std::chrono::seconds(5);
  };

  originals(store::object_store store, patience with, replica_maker& maker)
      : store_(std::move(store)), patience_(with), maker_(maker) {}

  [[nodiscard]] std::expected<void, node_error> start(std::string_view whose) { return watch_.start(whose); }
  void end();

  /// Whether another process may still be waited for. The time counts from the first call for `which`.
  [[nodiscard]] bool has_time(replica& which) const;
  void wait_for(const std::shared_ptr<replica>& which, const store::object_id& written);
  /// The replica is no longer wanted.
  void forget(const std::shared_ptr<replica>& which);

private:
  struct waiting {
    std::shared_ptr<replica> what;
    store::object_id written;
    std::uint32_t progress = 0;
    std::chrono::steady_clock::time_point progressed; // When `progress` last changed.
  };
  void watch();
  [[nodiscard]] bool is_over(waiting& each, std::chrono::steady_clock::time_point now) const;
  [[nodiscard]] std::vector<waiting> take_out_those_over();

  mutable store::object_store store_;
  const patience patience_;
  replica_maker& maker_;
  std::mutex mutex_;
  // Guarded by mutex_.
  std::vector<waiting> waiting_;
  bool is_watching_ = false;
  bool is_ended_ = false;

  job_queue watch_;
};

} // namespace troupe::internal
