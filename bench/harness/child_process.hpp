// The measured processes: copies of the benchmark's own program, which exchange lines of text with it.
#pragma once

#include "harness/stop_signals.hpp"

#include <troupe/processes/process.hpp>

#include <chrono>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

/// A running copy of this program. This process writes to the copy's standard input and reads its standard output; both
/// have the same standard error. The copy ends with this object, and with this process.
class child_process {
public:
  /// Starts /proc/self/exe. Fails with a text.
  [[nodiscard]] static std::expected<child_process, std::string> start(const std::vector<std::string>& arguments);

  void write_line(std::string_view line);

  /// Returns the child's next line, without the line feed. Fails if no line comes within `patience`, if the process or
  /// its `partner` has ended, or if a stop signal came.
  [[nodiscard]] std::expected<std::string, std::string>
  read_line(std::chrono::milliseconds patience, stop_signals& signals, child_process* partner = nullptr);

  /// A text on how it ended, if it has ended or does so within `patience`.
  [[nodiscard]] std::optional<std::string> ended_within(std::chrono::milliseconds patience);

  /// Restricts all threads of the child and of the programs that it has started to these cores. Threads and programs
  /// started later inherit that. Requires: `cores` is not empty.
  void run_on(const std::vector<int>& cores) const;

  /// Processor time used so far by the child and the running programs that it has started.
  [[nodiscard]] std::chrono::nanoseconds processor_time() const;

private:
  explicit child_process(troupe::processes::process running) : process_(std::move(running)) {}
  [[nodiscard]] std::string end(); // Ends it and returns how it ended.

  troupe::processes::process process_;
};

/// The cores that this process may use, in ascending order.
[[nodiscard]] std::vector<int> usable_cores();

} // namespace bench
