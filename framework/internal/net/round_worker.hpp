// What an I/O loop does for others between two looks at its sockets.
#pragma once

#include <chrono>
#include <memory>

#include <troupe/framework/internal/threads/system_threads.hpp>

namespace troupe::internal {

/// What the handlers of one thread's round have left to do: actors that have got messages.
///
/// Threads: the one that it was made on; `depose` from the other one of the loop.
class round_worker {
public:
  virtual ~round_worker() = default;
  [[nodiscard]] virtual bool empty() = 0;
  /// Works until nothing is left or the time since `begin` is over; what is left then goes to other threads.
  virtual void run(std::chrono::steady_clock::time_point begin, std::chrono::microseconds budget) = 0;
  /// Gives what is left to other threads.
  virtual void hand_over() = 0;
  /// Another thread leads from now on: whatever is or comes here goes to other threads, until `lead`.
  virtual void depose() = 0;
  virtual void lead() = 0;
};

/// Whom an I/O loop works for.
///
/// Threads: any.
class loop_host {
public:
  virtual ~loop_host() = default;
  /// For the calling thread, which ends it. `is_used`: messages that this thread receives may be left to it.
  [[nodiscard]] virtual std::unique_ptr<round_worker> make_worker(bool is_used) = 0;
  virtual void on_thread_started() = 0;
  virtual void on_thread_ends() = 0;
  /// Waits for `threads` at its own end, unless they are forgotten before.
  virtual void keep(std::shared_ptr<system_threads> threads) = 0;
  virtual void forget(const system_threads& threads) = 0;
};

} // namespace troupe::internal
