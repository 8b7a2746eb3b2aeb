// What the thread of a directory's watches does.
#pragma once

#include <troupe/framework/cluster/internal/host/bell.hpp>
#include <troupe/framework/cluster/internal/host/host_database.hpp>
#include <troupe/framework/cluster/internal/watching/wake_descriptor.hpp>
#include <troupe/framework/cluster/internal/watching/watch_list.hpp>

#include <chrono>
#include <memory>

namespace troupe::cluster_directories {

/// Delivers the changes of a database to watches until it is closed.
///
/// It also ends leases that are due. It looks when a process of the host rings the bell, when the process of a lease
/// ends, when the time of a lease is over, and otherwise every 2 s.
///
/// Threads: any; one of them calls run().
class watch_loop {
public:
  explicit watch_loop(std::shared_ptr<host_database> of) : database_(std::move(of)) {}

  [[nodiscard]] host_database& database() noexcept { return *database_; }
  [[nodiscard]] const std::shared_ptr<watch_list>& watches() const noexcept { return watches_; }

  /// Whether the system had a descriptor left to wake the thread with; without it, run() must not be called.
  [[nodiscard]] bool can_wake() const noexcept { return wakes_.is_open(); }
  /// To be called after a watch was added.
  void wake() const noexcept { wakes_.wake(); }

  /// Lets run() end every watch with `closed` and return.
  void close();
  void run();

private:
  [[nodiscard]] std::chrono::milliseconds look();
  [[nodiscard]] std::chrono::milliseconds end_due_leases();
  [[nodiscard]] bool deliver(const std::shared_ptr<watched>& watch);
  void wait(const bell_ear& ear, std::chrono::milliseconds pause);

  const std::shared_ptr<host_database> database_;
  const std::shared_ptr<watch_list> watches_ = std::make_shared<watch_list>();
  const wake_descriptor wakes_;
};

} // namespace troupe::cluster_directories
