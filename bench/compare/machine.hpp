// The machine of a measurement, the date, and the load by other programs.
#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace bench {

/// The facts about a machine that readers of results need, by name: processor, memory, system, compiler.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> facts_of_machine();

/// "2026-11-22 21:40 UTC".
[[nodiscard]] std::string date_of(std::chrono::system_clock::time_point when);

/// Shares of all processors' time, each from 0 to 1.
struct shares {
  double ours = 0;   // This process's children and their descendants.
  double others = 0; // Other programs.
  double host = 0;   // Time that a virtual machine did not get from its host.
};

/// Measures, from its construction on, which programs use the processors.
class processor_watch {
public:
  /// Makes this process the reaper of its descendants whose parents have ended, so that their time counts as ours.
  processor_watch();

  /// The shares since construction. Requires: our children have ended.
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
