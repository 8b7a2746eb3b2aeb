// What several nodes of a host need of the same exporter is pulled by one of them: the others find it in the store they
// share, or wait until it is there.
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

/// What this host's nodes call an object of another host, whichever of them has it from its exporter.
[[nodiscard]] store::object_origin origin_of(const handles::original& what, std::uint64_t size_bytes);

/// Whoever wants to go on with a replica that was left to others.
class replica_maker {
public:
  virtual ~replica_maker() = default;
  /// Any thread. The other one writes no more, or too slowly.
  virtual void try_again(const std::shared_ptr<replica>& which) = 0;
};

/// Waits for other processes of this host that write what is wanted here.
///
/// Threads: end once; the rest from any. One of its own waits while there is something to wait for.
/// Locks: its own comes last but for the store's.
class originals {
public:
  struct patience {
    /// How long a pull of another node of this host may keep this one from pulling the same. Longer saves traffic and
    /// memory where that one is slow, shorter saves time. Less than `ledger_options::pull_patience`.
    std::chrono::nanoseconds whole = std::chrono::seconds(30);
    /// The same for one that has brought nothing for so long: it is stopped, or its link stands still.
    std::chrono::nanoseconds stall = std::chrono::seconds(5);
  };

  originals(store::object_store store, patience with, replica_maker& maker)
      : store_(std::move(store)), patience_(with), maker_(maker) {}

  [[nodiscard]] std::expected<void, node_error> start(std::string_view whose) { return watch_.start(whose); }
  void end();

  /// Whether another one may still be waited for, counted from the first time that it is asked.
  [[nodiscard]] bool has_time(replica& which) const;
  void wait_for(const std::shared_ptr<replica>& which, const store::object_id& written);
  /// It is not wanted any more.
  void forget(const std::shared_ptr<replica>& which);

private:
  struct waiting {
    std::shared_ptr<replica> what;
    store::object_id written;
    std::uint32_t progress = 0;
    std::chrono::steady_clock::time_point progressed; // When that was seen to change.
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
