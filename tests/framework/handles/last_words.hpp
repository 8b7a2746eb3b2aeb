// Reports the run that was in progress when the process died. A failed assertion in the ledger ends the process, and no
// exception tells which run it was.
#pragma once

#include <cstddef>

#include "run.hpp"

namespace troupe::simulation {

/// From now on, SIGABRT and SIGSEGV print the current run, its step and how to repeat it, and then end the process as
/// before.
void tell_last_words();

/// Marks a run as in progress on this thread while the object lives. Lifetime: `plan` and `steps` outlive it.
class run_in_progress {
public:
  run_in_progress(const run_plan& plan, const std::vector<step_choice>& steps);
  ~run_in_progress();
  run_in_progress(const run_in_progress&) = delete;
  run_in_progress& operator=(const run_in_progress&) = delete;

  /// Sets the number of the next step.
  void at(std::size_t step);
};

} // namespace troupe::simulation
