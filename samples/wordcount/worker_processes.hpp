// The worker processes, from start to end.
#pragma once

#include "file_descriptor.hpp"

#include <sys/types.h>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace wordcount {

/// What a worker is told when it may begin: whom to dial, and how to get in. Told and not given as arguments: it is not
/// known before the coordinator listens, and arguments can be read by all users of the host.
struct invitation {
  std::string address; // Where the coordinator listens.
  std::string secret;  // By which the two ends of a link know each other; empty where they need none.
};

/// Copies of this program that are started, begin together, are noticed when they end, and do not outlive their owner.
///
/// Whoever leaves a store last clears it up, so the workers are there before the coordinator makes the store, and leave
/// it after the coordinator has. Thus there is no moment at which a killed coordinator leaves a store behind.
///
/// Threads: one; reports come on a thread of their own.
class worker_processes {
public:
  /// Called with a worker's number, from 1, and a text such as "killed by signal 9 (Killed)".
  using ended_report = std::function<void(std::size_t worker, const std::string& how)>;

  /// Starts one process per entry, worker 1 first, with these arguments.
  explicit worker_processes(const std::vector<std::vector<std::string>>& arguments);
  worker_processes(const worker_processes&) = delete;
  worker_processes& operator=(const worker_processes&) = delete;
  /// Kills those that still run, and waits for their end.
  ~worker_processes();

  /// Invites them all, and from then on reports each that ends or could not be started. To be called once.
  void begin(const invitation& to, ended_report on_ended);

  /// Tells them to end, waits, and kills those that have not ended within `patience`. False when one of them was killed
  /// or failed, now or before.
  bool end(std::chrono::milliseconds patience);

private:
  void watch();
  void kill_and_wait();
  void report(std::size_t worker, const std::string& how);
  [[nodiscard]] std::size_t running() const; // Requires mutex_.

  // By worker number - 1: the other end of its standard input. The invitation says begin, closing says end.
  std::vector<file_descriptor> commands_;
  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  std::vector<pid_t> running_; // By worker number - 1; 0 when it has ended.
  bool all_well_ = true;       // Those that have ended did so with status 0.
  ended_report on_ended_;      // Empty before begin().
  std::vector<std::pair<std::size_t, std::string>> unreported_;

  std::thread watcher_;
};

/// In a worker: waits until the coordinator says begin(). Nullopt when it is gone without having said so.
[[nodiscard]] std::optional<invitation> wait_to_begin();

/// In a worker: waits until the coordinator says end(), or is gone.
void wait_to_end();

} // namespace wordcount
