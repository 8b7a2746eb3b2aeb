// Where something was measured: numbers without that say nothing.
#pragma once

#include <cstddef>
#include <string>

namespace troupe::tools {

struct machine {
  std::string cpu;
  std::size_t cores = 0; // That this process may use.
  std::size_t memory_bytes = 0;
  std::string kernel;
  std::string compiler;
  std::string build;   // "Release", with the sanitizers where there are some.
  std::string version; // Troupe's.
  std::string date;    // "2026-11-22 20:42 UTC".
};

[[nodiscard]] machine machine_now();

/// On one line.
[[nodiscard]] std::string text_of(const machine& where);

/// Whether this build is made for speed.
[[nodiscard]] bool is_optimized(const machine& where);

} // namespace troupe::tools
