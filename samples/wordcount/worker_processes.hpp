// Starts, watches and ends the worker processes.
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

/// Tells a worker to begin, and the address and credentials for its link. These are not passed as arguments, because
/// they are unknown until the coordinator listens, and because all users of the host can read arguments.
struct invitation {
  std::string address; // Where the coordinator listens.
  std::string secret;  // The link's shared secret; empty if the transport needs none.
};

/// Starts copies of this program, lets them begin together, reports when they end, and ends them with their owner.
///
/// The last process that closes a store removes it. Therefore the workers exist before the coordinator makes the store,
/// and close it after the coordinator. A killed coordinator never leaves a store behind.
///
/// Threads: one. Reports come on a separate thread.
class worker_processes {
public:
  /// Called with a worker's number, from 1, and a text such as "killed by signal 9 (Killed)".
  using ended_report = std::function<void(std::size_t worker, const std::string& how)>;

  /// Starts one process per entry, worker 1 first, with the entry's arguments.
  explicit worker_processes(const std::vector<std::vector<std::string>>& arguments);
  worker_processes(const worker_processes&) = delete;
  worker_processes& operator=(const worker_processes&) = delete;
  /// Kills the remaining processes and waits for their end.
  ~worker_processes();

  /// Sends the invitation to all workers. From then on, reports each worker that ends or could not be started. Call it
  /// once.
  void begin(const invitation& to, ended_report on_ended);

  /// Tells the workers to end, waits up to `patience`, and kills the remaining ones. Returns false if any worker was
  /// killed or failed, now or earlier.
  bool end(std::chrono::milliseconds patience);

private:
  void watch();
  void kill_and_wait();
  void report(std::size_t worker, const std::string& how);
  [[nodiscard]] std::size_t running() const; // Requires mutex_.

  // By worker number - 1: the write end of its standard input. The invitation means begin, and closing means end.
  std::vector<file_descriptor> commands_;
  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  std::vector<pid_t> running_; // By worker number - 1; 0 once it has ended.
  bool all_well_ = true;       // Whether all ended workers had status 0.
  ended_report on_ended_;      // Empty before begin().
  std::vector<std::pair<std::size_t, std::string>> unreported_;

  std::thread watcher_;
};

/// In a worker: waits for the coordinator's begin(). Returns nullopt if the coordinator ends without calling it.
[[nodiscard]] std::optional<invitation> wait_to_begin();

/// In a worker: waits until the coordinator calls end() or is gone.
void wait_to_end();

} // namespace wordcount
