#include "last_words.hpp"

#include <csignal>
#include <iostream>

namespace troupe::simulation {

namespace {

struct {
  const run_plan* plan = nullptr;
  const std::vector<step_choice>* steps = nullptr;
  std::size_t step = 0;
} current;

constexpr std::size_t told_steps = 12;

/// A signal handler may not strictly do this. It is acceptable here: the process is dying anyway, and the thread that
/// dies is the one that executes the run.
void tell(int signal) {
  std::signal(signal, SIG_DFL);
  if (current.plan != nullptr) {
    const auto& steps = *current.steps;
    std::cerr << "\ndied in step " << current.step << " of " << steps.size() << " of the run with seed "
              << current.plan->seed << "\nrepeat it with TROUPE_SEED=" << current.plan->seed
              << ", with TROUPE_STORY=1 to be told all of it; the last steps:\n";
    auto from = current.step > told_steps ? current.step - told_steps : 0;
    for (auto each = from; each < steps.size() && each <= current.step; ++each)
      std::cerr << steps[each] << '\n';
    std::cerr.flush();
  }
  std::raise(signal);
}

} // namespace

void tell_last_words() {
  std::signal(SIGABRT, tell);
  std::signal(SIGSEGV, tell);
}

run_in_progress::run_in_progress(const run_plan& plan, const std::vector<step_choice>& steps) {
  current = {&plan, &steps, 0};
}

run_in_progress::~run_in_progress() {
  current = {};
}

void run_in_progress::at(std::size_t step) {
  current.step = step;
}

} // namespace troupe::simulation
