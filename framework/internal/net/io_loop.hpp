// One I/O loop of a node: its sockets, its timers, and the actors whose messages it has just read.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>

#include <troupe/framework/internal/net/io_batch.hpp>
#include <troupe/framework/internal/net/ring_watch.hpp>
#include <troupe/framework/internal/net/round_worker.hpp>
#include <troupe/framework/internal/net/spinning.hpp>
#include <troupe/framework/internal/net/wait_wishes.hpp>
#include <troupe/framework/internal/words/limited_log.hpp>
#include <troupe/framework/node_errc.hpp>

namespace troupe::internal {

/// How long the I/O thread works for actors before it reads again.
struct dispatch_budget {
  bool enabled = true;
  std::chrono::microseconds time{300};     // For all actors between two looks at the sockets; checked when a handler
                                           // ends.
  std::chrono::microseconds overrun{1000}; // A handler that takes longer loses the sockets, after at most twice this
                                           // time.
  std::chrono::microseconds spin{50};      // How long to look for more before sleeping, if looking has paid of late.
};

/// Runs an io_context. After each round of its work it resumes the actors to which the round delivered messages,
/// because waking a scheduler's thread for them costs several times a short handler. When the budget is used up, the
/// remaining actors go to CAF's scheduler, as do actors that have been slow before. Then the loop checks the sockets.
///
/// A slow handler does not delay the sockets either, because a second thread, which otherwise sleeps, takes them over.
/// Until the first thread is back, all actors go to CAF's scheduler. "The I/O thread" is the thread of the two that
/// leads. The two never touch its data at the same time.
///
/// Threads: start on the owner's thread; the rest on any thread.
/// Lifetime: its threads share it, so a thread that returns late from a handler still finds it.
class io_loop : public std::enable_shared_from_this<io_loop>, public system_threads {
public:
  /// A thread's current work for a loop.
  enum class duty : std::uint8_t { none, runs_an_actor, handles_io };

  io_loop(std::shared_ptr<loop_host> host, std::string owner, const dispatch_budget& budget);
  io_loop(const io_loop&) = delete;
  io_loop& operator=(const io_loop&) = delete;
  ~io_loop() override;

  /// `on_takeover` is called on the new I/O thread, while bytes that the old one appended are still unwritten. If the
  /// system provides no thread, fails with `bad_option`. Then nothing has run, and the loop can only be destroyed.
  [[nodiscard]] std::expected<void, node_error> start(std::function<void()> on_takeover);

  /// Waits until no work is left, and for the threads. A thread that is still in a handler, and the calling thread, are
  /// left to the actor system, which waits for them at its own end. If may_wait() is false, does not wait at all.
  void stop();

  /// False on the threads of all loops while they handle I/O, because other links' work waits for them.
  [[nodiscard]] static bool may_wait() noexcept;

  [[nodiscard]] bool join_within(std::chrono::milliseconds patience) override;
  [[nodiscard]] bool is_left() const noexcept override { return is_left_.load(); }
  [[nodiscard]] const std::string& owner() const noexcept override { return owner_; }

  [[nodiscard]] asio::io_context& context() noexcept { return io_; }

private:
  struct desk;

  /// The threads wait until all of them exist.
  enum class start_state : std::uint8_t { under_way, done, given_up };

  void run_thread(std::size_t index);
  [[nodiscard]] bool may_begin();
  void run();
  void lead(desk& own);
  void look_at_all();
  void look_now_and_then(std::chrono::steady_clock::time_point& looked_at);
  [[nodiscard]] bool look_for_a_moment();
  [[nodiscard]] bool spin_for_work(spinning& spin);
  std::size_t wait_for_work(spinning& spin);
  bool dispatch(desk& own);
  void stand_by(desk& own);
  void wake_watch();
  [[nodiscard]] bool take_over(std::chrono::steady_clock::time_point now);
  [[nodiscard]] std::chrono::steady_clock::time_point next_look(std::chrono::steady_clock::time_point now) const;
  [[nodiscard]] std::chrono::steady_clock::time_point began_when() const;

  limited_log lines_{"the I/O thread"};
  const std::shared_ptr<loop_host> host_;
  const std::string owner_; // The node's name.
  const dispatch_budget budget_;
  std::function<void()> on_takeover_;
  asio::io_context io_{1};
  asio::executor_work_guard<asio::io_context::executor_type> work_{io_.get_executor()};
  ring_watch& rings_ = ring_watch::of(io_);          // The leader's.
  const wait_wishes& wishes_ = wait_wishes::of(io_); // The leader's.

  // The leader's turn. The upper bits have its number, and the lowest bit whether it dispatches. The leader writes it.
  // A takeover replaces "dispatching" by the next turn's "leading".
  std::atomic<std::uint64_t> turn_{0};
  std::atomic<std::chrono::steady_clock::rep> dispatch_began_{0}; // Of the latest dispatch.
  std::atomic<desk*> leader_{nullptr};                            // The latest leader; lives as long as its thread.
  std::atomic<bool> covered_{false};                              // The other thread stands by.
  std::atomic<bool> watching_{false};                             // The other thread checks turn_ regularly.

  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  bool standing_by_ = false; // The other thread may take over.
  bool watch_wanted_ = false;
  start_state started_ = start_state::under_way;
  bool stopped_ = false;
  std::array<bool, 2> has_left_{};

  std::size_t threads_started_ = 0; // Set by start().
  std::atomic<bool> is_left_{false};
  std::mutex joining_;
  std::array<std::thread, 2> threads_; // Their lambdas share this loop. Joined under joining_.
};

} // namespace troupe::internal
