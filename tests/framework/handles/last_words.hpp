// What a run was doing when the process died of it: an assertion in the ledger ends the process, and no exception tells
// which run it was.
#pragma once

#include <cstddef>

#include "run.hpp"

namespace troupe::simulation {

/// From here on SIGABRT and SIGSEGV say which run was under way, which of its steps, and how to repeat it; and then
/// kill as before.
void tell_last_words();

/// While it lives, a run is under way on this thread. The steps stay where they are.
class run_in_progress {
public:
  run_in_progress(const run_plan& plan, const std::vector<step_choice>& steps);
  ~run_in_progress();
  run_in_progress(const run_in_progress&) = delete;
  run_in_progress& operator=(const run_in_progress&) = delete;

  /// The step with this number comes next.
  void at(std::size_t step);
};

} // namespace troupe::simulation
