// Child processes of this one.
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

/// A child of this process, which does not outlive this object, nor the thread that started it.
///
/// Threads: one at a time. It waits for its own child only, never for those of others.
class process {
public:
  /// Starts a program. `at_destruction` is how long the destructor waits before it kills: until then the child may end
  /// by itself, since its input has ended. Fails with a text.
  [[nodiscard]] static std::expected<process, std::string>
  start(const start_options& options, std::chrono::milliseconds at_destruction = std::chrono::milliseconds::zero());

  /// Forks: the child runs `work` and exits with the status that it gives, without the destructors of what its parent
  /// has; its threads are gone. It talks with its parent by the channel where `work` takes one. Fails with a text.
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
  /// Ends its input, and kills it if it does not end in time.
  ~process();

  /// Also after its end.
  [[nodiscard]] pid_t number() const noexcept { return number_; }

  /// What it reads as its input, and says as its output, as far as these are `lines`.
  [[nodiscard]] line_channel& channel() noexcept { return channel_; }

  /// How it ended, if it did or does so in time. What it says meanwhile is received, so that it can end.
  std::optional<ending> ended_within(time_limit patience);
  [[nodiscard]] bool runs() { return !ended_within(std::chrono::milliseconds::zero()); }
  ending wait() { return *ended_within(std::nullopt); }

  /// Ends its input, and kills it if it does not end in time.
  ending end(std::chrono::milliseconds patience);
  ending kill();

  /// Sends a signal, but not after its end.
  void signal(int which);
  /// To all processes of its group. Requires: start_options::own_group.
  void signal_group(int which);

  /// Waits until a signal has stopped all its threads. False if that does not happen in time, or it ends.
  [[nodiscard]] bool is_stopped_within(std::chrono::milliseconds patience);
  /// Stops it: is_stopped_within() after SIGSTOP.
  [[nodiscard]] bool stop(std::chrono::milliseconds patience);
  void go_on() { signal(SIGCONT); }

private:
  process(pid_t number, line_channel channel, std::chrono::milliseconds at_destruction);

  [[nodiscard]] static std::expected<process, std::string> fork_with(std::move_only_function<int(line_channel&)> work,
                                                                     bool is_spoken_with);

  [[nodiscard]] bool has_ended();
  void wait_for_something(int patience_ms);

  pid_t number_ = -1;
  descriptor watch_; // Readable at its end.
  line_channel channel_;
  std::chrono::milliseconds at_destruction_{0};
  std::optional<ending> ending_; // Once it was waited for. Then its number may be that of a stranger.
};

} // namespace troupe::processes
