// Work that an I/O loop does for others between two looks at its sockets.
#pragma once

#include <chrono>
#include <memory>

#include <troupe/framework/internal/threads/system_threads.hpp>

namespace troupe::internal {

/// The actors that received messages in one thread's round and have not run yet.
///
/// Threads: the thread that made it; `depose` from the loop's other thread.
class round_worker {
public:
  virtual ~round_worker() = default;
  [[nodiscard]] virtual bool empty() = 0;
  /// Runs actors until none is left or `budget` has passed since `begin`. Passes the rest to other threads.
  virtual void run(std::chrono::steady_clock::time_point begin, std::chrono::microseconds budget) = 0;
  /// Passes everything that is left to other threads.
  virtual void hand_over() = 0;
  /// Another thread leads now. Passes everything that is here or arrives here to other threads, until `lead`.
  virtual void depose() = 0;
  virtual void lead() = 0;
};

/// The owner of the work of I/O loops.
///
/// Threads: any.
class loop_host {
public:
  virtual ~loop_host() = default;
  /// Makes a worker for the calling thread, which also destroys it. `is_used`: actors whose messages this thread
  /// receives may be left to the worker.
  [[nodiscard]] virtual std::unique_ptr<round_worker> make_worker(bool is_used) = 0;
  virtual void on_thread_started() = 0;
  virtual void on_thread_ends() = 0;
  /// Waits for `threads` at its own end, unless forget() comes first.
  virtual void keep(std::shared_ptr<system_threads> threads) = 0;
  virtual void forget(const system_threads& threads) = 0;
};

} // namespace troupe::internal
