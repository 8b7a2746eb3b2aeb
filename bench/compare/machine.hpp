// On what something was measured, when, and who else was at work there.
#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace bench {

/// What a reader of results has to know of a machine, each under its name: processor, memory, system, compiler.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> facts_of_machine();

/// "2026-11-22 21:40 UTC".
[[nodiscard]] std::string date_of(std::chrono::system_clock::time_point when);

/// What was taken of the processors' time, all of them together, each 0 to 1.
struct shares {
  double ours = 0;   // This process's children, and theirs.
  double others = 0; // Other programs.
  double host = 0;   // Of a virtual machine: what it did not get.
};

/// Watches who takes the processors from its construction on.
class processor_watch {
public:
  /// Makes this process the one that waits for its children's children when their parents have ended, so that they
  /// count as ours, too.
  processor_watch();

  /// What was taken so far. Requires: our children have ended.
  [[nodiscard]] shares taken() const;

private:
  struct reading {
    double total = 0;
    double busy = 0;
    double stolen = 0;
    double ours = 0;
  };
  static reading read();

  reading began_;
};

} // namespace bench
