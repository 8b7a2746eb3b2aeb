// The machine and the build of a measurement. Numbers mean nothing without them.
#pragma once

#include <cstddef>
#include <string>

namespace troupe::tools {

struct machine {
  std::string cpu;
  std::size_t cores = 0; // Cores that this process may use.
  std::size_t memory_bytes = 0;
  std::string kernel;
  std::string compiler;
  std::string build;   // For example "Release", with the sanitizers if there are any.
  std::string version; // Troupe's version.
  std::string date;    // "2026-11-22 20:42 UTC".
};

[[nodiscard]] machine machine_now();

/// The description of the machine and the build, on one line.
[[nodiscard]] std::string text_of(const machine& where);

/// Whether this is an optimized build.
[[nodiscard]] bool is_optimized(const machine& where);

} // namespace troupe::tools
