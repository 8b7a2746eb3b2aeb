// Runs the `troupe` command as users do.
#pragma once

#include <troupe/processes/process.hpp>

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace troupe::tests {

struct output {
  std::string text; // Both streams, unless the test says otherwise.
  int status = -1;  // As a shell reports it.
};

/// Runs a program to its end. Returns its output, and its errors if `options.errors` is `lines`.
[[nodiscard]] inline output run_to_end(processes::start_options options) {
  options.output = processes::lines{};
  auto running = processes::process::start(options).value();
  auto text = running.channel().read_all();
  return {std::move(text), running.wait().status()};
}

/// Runs a line in the shell. Returns both streams and the status.
[[nodiscard]] inline output run_line(const std::string& line) {
  return run_to_end({.program = "/bin/sh", .words = {"sh", "-c", line}, .errors = processes::lines{}});
}

[[nodiscard]] inline output run(const std::string& arguments) {
  return run_line(TROUPE_PROGRAM " " + arguments);
}

inline void expect_contains(const std::string& text, std::string_view part) {
  EXPECT_NE(text.find(part), std::string::npos) << "no \"" << part << "\" in\n" << text;
}

} // namespace troupe::tests
