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

/// A child process. It outlives neither this object nor the thread that started it.
///
/// Threads: one at a time. Waits only for its own child, never for other children of this process.
class process {
public:
  /// Starts a program. The destructor ends the child's input, waits `at_destruction` for the child to exit, then kills
  /// it. Fails with a text.
  [[nodiscard]] static std::expected<process, std::string>
  start(const start_options& options, std::chrono::milliseconds at_destruction = std::chrono::milliseconds::zero());

  /// Forks. The child runs `work` and exits with the status that `work` returns; it has none of the parent's other
  /// threads and does not run the destructors of the parent's objects. If `work` takes a channel, that channel connects
  /// it to the parent. Fails with a text.
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
  /// Ends the child's input, and kills it if it does not exit in time.
  ~process();

  /// Valid after the child's end as well.
  [[nodiscard]] pid_t number() const noexcept { return number_; }

  /// The child's input and output, as far as these are `lines`.
  [[nodiscard]] line_channel& channel() noexcept { return channel_; }

  /// Waits for the child to end; nullopt if it still runs after `patience`. Receives its output meanwhile, so that a
  /// full pipe cannot block it.
  std::optional<ending> ended_within(time_limit patience);
  [[nodiscard]] bool runs() { return !ended_within(std::chrono::milliseconds::zero()); }
  ending wait() { return *ended_within(std::nullopt); }

  /// Ends the child's input, and kills the child if it does not exit in time.
  ending end(std::chrono::milliseconds patience);
  ending kill();

  /// Sends a signal, unless the child has ended.
  void signal(int which);
  /// Sends a signal to all processes of the child's group. Requires: start_options::own_group.
  void signal_group(int which);

  /// Waits until a signal has stopped all threads of the child. Returns false if that takes longer than `patience`, or
  /// the child ends.
  [[nodiscard]] bool is_stopped_within(std::chrono::milliseconds patience);
  /// Sends SIGSTOP, then is_stopped_within().
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
