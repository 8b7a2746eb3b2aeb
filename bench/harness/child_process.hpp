// The processes that a benchmark measures: copies of the benchmark's own program, spoken with in lines of text.
#pragma once

#include "harness/stop_signals.hpp"

#include <sys/types.h>

#include <chrono>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

/// A running copy of this program. What is written to it is its standard input, its standard output is read here, and
/// its error output is ours. It never outlives this object, nor, where it calls `die_with_parent`, this process.
class child_process {
public:
  /// Starts /proc/self/exe. Fails with a text.
  [[nodiscard]] static std::expected<child_process, std::string> start(const std::vector<std::string>& arguments);

  child_process(child_process&& other) noexcept;
  child_process& operator=(child_process&& other) noexcept;
  /// Ends its input, kills it if it does not end soon, and waits for it.
  ~child_process();

  void write_line(std::string_view line);

  /// Its next line, without the line feed. Fails when there is none after `patience`, when the process or the `partner`
  /// that it works with has ended, or when a stop signal came.
  [[nodiscard]] std::expected<std::string, std::string>
  read_line(std::chrono::milliseconds patience, stop_signals& signals, child_process* partner = nullptr);

  /// How it ended, if it did or does so within `patience`.
  [[nodiscard]] std::optional<std::string> ended_within(std::chrono::milliseconds patience);

  /// Lets all its threads and those of the programs that it has started, and all that they start from now on, run on
  /// these cores only. Requires: not empty.
  void run_on(const std::vector<int>& cores) const;

private:
  child_process(pid_t process, int socket) : process_(process), socket_(socket) {}
  [[nodiscard]] std::string end(std::chrono::milliseconds patience); // How it ended.

  pid_t process_ = -1; // -1 when it was waited for.
  int socket_ = -1;
  std::string received_;
};

/// The cores that this process may use, in ascending order.
[[nodiscard]] std::vector<int> usable_cores();

/// In a child: from now on the kernel ends this process together with its parent's thread.
void die_with_parent();

} // namespace bench
