// The processes that a benchmark measures: copies of the benchmark's own program, spoken with in lines of text.
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

/// A running copy of this program. What is written to it is its standard input, its standard output is read here, and
/// its error output is ours. It outlives neither this object nor this process.
class child_process {
public:
  /// Starts /proc/self/exe. Fails with a text.
  [[nodiscard]] static std::expected<child_process, std::string> start(const std::vector<std::string>& arguments);

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

  /// What it and the programs that it has started, as far as they still run, have taken of the processors until now.
  [[nodiscard]] std::chrono::nanoseconds processor_time() const;

private:
  explicit child_process(troupe::processes::process running) : process_(std::move(running)) {}
  [[nodiscard]] std::string end(); // How it ended.

  troupe::processes::process process_;
};

/// The cores that this process may use, in ascending order.
[[nodiscard]] std::vector<int> usable_cores();

} // namespace bench
