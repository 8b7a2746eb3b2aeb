// The node's I/O thread: sockets, timers, and the actors whose messages it has just read.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>

#include <caf/actor_system.hpp>
#include <caf/execution_unit.hpp>
#include <caf/resumable.hpp>

#include <troupe/framework/internal/caf_port/system_module.hpp>
#include <troupe/framework/internal/io_batch.hpp>
#include <troupe/framework/internal/limited_log.hpp>
#include <troupe/framework/internal/spinning.hpp>

namespace troupe::internal {

/// How much the I/O thread works for actors before it reads again.
struct dispatch_budget {
  bool enabled = true;
  std::size_t messages = 100;            // Per actor and turn.
  std::chrono::microseconds turn{100};   // An actor that takes longer for them goes to CAF's scheduler.
  std::chrono::microseconds time{500};   // Per round of work, as far as handlers end by then.
  std::chrono::milliseconds overrun{10}; // A handler that takes longer loses the sockets to another thread.
  std::chrono::microseconds spin{50};    // How long to look for more before sleeping, where that has paid of late.
};

/// Runs an io_context, and after each round of its work resumes the actors that the round has put messages into, since
/// waking a scheduler's thread for them costs several times what a short handler does. Actors that take long go to
/// CAF's scheduler.
///
/// A handler that takes long does not hold up the sockets: a second thread, otherwise asleep, takes them over, and
/// until the first one is back all actors go to CAF's scheduler. So "the I/O thread" is whichever of the two leads;
/// what is only touched on the I/O thread is never touched by both.
///
/// Threads: start from the thread that owns it; the rest from any.
/// Lifetime: its threads share it, so that one that is stuck in a handler when all else is over finds it in the end.
class io_loop : public std::enable_shared_from_this<io_loop>, public system_threads {
public:
  /// What a thread does for a loop.
  enum class duty : std::uint8_t { none, runs_an_actor, handles_io };

  /// Requires a system that is built from a troupe::system_config.
  io_loop(caf::actor_system& system, const dispatch_budget& budget);
  io_loop(const io_loop&) = delete;
  io_loop& operator=(const io_loop&) = delete;
  ~io_loop() override;

  /// `on_takeover` is called on the new I/O thread: what the old one has appended is still unwritten.
  void start(std::function<void()> on_takeover);

  /// Waits until no work is left, and for the threads. One that is still in a handler then, and the calling one, are
  /// left to the actor system, which waits for them at its own end. Waits for nothing where `may_wait` says so.
  void stop();

  /// False on the threads of this and of other loops while they handle I/O: others' work waits behind them.
  [[nodiscard]] static bool may_wait() noexcept;

  [[nodiscard]] bool join_within(std::chrono::milliseconds patience) override;
  [[nodiscard]] bool is_left() const noexcept override { return is_left_.load(); }

  [[nodiscard]] asio::io_context& context() noexcept { return io_; }

  /// Where to enqueue what was received: the calling thread's unit, when it is the I/O thread and dispatches, else
  /// null.
  [[nodiscard]] static caf::execution_unit* unit() noexcept;

private:
  class dispatcher;

  void run_thread(std::size_t index);
  void run();
  void lead(dispatcher& own);
  std::size_t wait_for_work(spinning& spin);
  bool dispatch(dispatcher& own);
  void stand_by(dispatcher& own);
  void wake_watch();
  [[nodiscard]] bool take_over(std::uint64_t& seen_turn);

  limited_log lines_{"the I/O thread"};
  caf::actor_system& system_;
  const dispatch_budget budget_;
  std::function<void()> on_takeover_;
  asio::io_context io_{1};
  asio::executor_work_guard<asio::io_context::executor_type> work_{io_.get_executor()};

  // The leader's turn: its number in the upper bits, whether it dispatches in the lowest. Written by the leader; a
  // takeover replaces "dispatching" by the next turn's "leading".
  std::atomic<std::uint64_t> turn_{0};
  std::atomic<dispatcher*> leader_{nullptr}; // The last to lead; lives as long as its thread.
  std::atomic<bool> covered_{false};         // The other thread stands by.
  std::atomic<bool> watching_{false};        // ... and looks at turn_ now and then.

  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  bool standing_by_ = false; // The other thread may take over.
  bool watch_wanted_ = false;
  bool stopped_ = false;
  std::array<bool, 2> has_left_{};

  std::size_t threads_started_ = 0; // Set by start().
  std::atomic<bool> is_left_{false};
  std::mutex joining_;
  std::array<std::thread, 2> threads_; // Whose lambdas share this loop. Joined under joining_.
};

} // namespace troupe::internal
