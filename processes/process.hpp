// Child processes.
#pragma once

#include "deadline.hpp"
#include "ending.hpp"
#include "line_channel.hpp"
#include "starting.hpp"

#include <chrono>
#include <concepts>
#include <csignal>
#include <expected>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include <sys/types.h>

namespace troupe::processes {

/// A child process. Only its own child is waited for, never another child of this process.
///
/// Threads: one at a time. Lifetime: the child outlives neither this object nor, by default, the thread that started it
/// (start_options::parting_signal).
class process {
public:
  /// Starts a program. `at_destruction` is how long the destructor waits for the child to exit before it kills the
  /// child. Fails with a text.
  [[nodiscard]] static std::expected<process, std::string>
  start(const start_options& options, std::chrono::milliseconds at_destruction = std::chrono::milliseconds::zero());

  /// Forks. The child runs `work` and exits with the status that `work` returns. It has none of the parent's other
  /// threads and does not run the destructors of the parent's objects. If `work` takes a channel, the channel connects
  /// the child to the parent. Fails with a text.
  template <std::invocable<line_channel&> Work>
  [[nodiscard]] static std::expected<process, std::string> fork(Work work) {
    return fork_with(std::move(work), true);
  }
  template <std::invocable Work>
  [[nodiscard]] static std::expected<process, std::string> fork(Work work) {
    return fork_with([work = std::move(work)](line_channel&) mutable { return static_cast<int>(work()); }, false);
  }

  process(process&& other) noexcept;
  process& operator=(process&& other) noexcept;
  /// Ends the child's input, and kills the child if it does not exit in time.
  ~process();

  /// The child's process id. It stays the same after the child's end.
  [[nodiscard]] pid_t number() const noexcept { return number_; }

  /// The child's input and output, as far as these are `lines`.
  [[nodiscard]] line_channel& channel() noexcept { return channel_; }

  /// Waits for the child to end. Returns nullopt if the child still runs after `patience`. Receives the child's output
  /// meanwhile, so that a full pipe cannot block the child.
  std::optional<ending> ended_within(time_limit patience);
  [[nodiscard]] bool runs() { return !ended_within(std::chrono::milliseconds::zero()); }
  ending wait() { return *ended_within(std::nullopt); }

  /// Ends the child's input, and kills the child if it does not exit within `patience`.
  ending end(std::chrono::milliseconds patience);
  ending kill();

  /// Sends a signal, unless the child has ended.
  void signal(int which);
  /// Sends a signal to all processes of the child's group. Requires: start_options::own_group.
  void signal_group(int which);

  /// Waits until a signal has stopped all threads of the child. Returns false if that takes longer than `patience`, or
  /// if the child ends.
  [[nodiscard]] bool is_stopped_within(std::chrono::milliseconds patience);
  /// Sends SIGSTOP, and returns the result of is_stopped_within().
  [[nodiscard]] bool stop(std::chrono::milliseconds patience);
  void go_on() { signal(SIGCONT); }

private:
  process(pid_t number, line_channel channel, std::chrono::milliseconds at_destruction);

  [[nodiscard]] static std::expected<process, std::string> fork_with(std::move_only_function<int(line_channel&)> work,
                                                                     bool is_spoken_with);

  [[nodiscard]] bool has_ended();
  void wait_for_something(int patience_ms);

  pid_t number_ = -1;
  descriptor watch_; // Readable once the child has ended.
  line_channel channel_;
  std::chrono::milliseconds at_destruction_{0};
  std::optional<ending> ending_; // Set once the child was reaped; then its number may belong to another process.
};

} // namespace troupe::processes
