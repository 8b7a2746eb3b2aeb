// The main program of a benchmark whose subjects take one step per round, for some time, between two processes.
#pragma once

#include "harness/limits.hpp"
#include "harness/statistics.hpp"
#include "harness/steps.hpp"

#include <chrono>
#include <expected>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace bench {

/// What differs between such programs.
struct step_program {
  std::string name;
  std::string description; // For --help.
  std::vector<std::string> subjects;
  std::vector<std::string> peers = {};  // Subjects to which the ratios of all others are shown.
  std::string step;                     // Its count is the time in milliseconds.
  std::vector<quantity> quantities;     // The numbers that the step answers with.
  std::chrono::milliseconds time{2000}; // Of a step, unless the user says otherwise.
  std::chrono::milliseconds quick_time{50};
  bool warms_up = true; // Whether each process takes a step of a tenth of the time first.
  std::span<const limit> limits;
  std::function<void()> prepare; // Called in the measuring process before it starts others.
  /// For the far process, see serve_steps().
  std::function<std::expected<void, std::string>(const std::string& subject,
                                                 const std::function<void(const std::string&)>& ready)>
      serve;
  /// For the near process, see drive_steps().
  std::function<std::expected<step_taker, std::string>(const std::string& subject, const std::string& address)> connect;
};

/// Reads the arguments and measures, or is one of the two processes. Returns the exit status.
[[nodiscard]] int run(const step_program& program, int argument_count, const char* const* arguments);

} // namespace bench
