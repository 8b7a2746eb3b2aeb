#include "harness/rounds.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <unistd.h>

namespace bench {

progress::progress() : is_shown_(::isatty(STDERR_FILENO) == 1) {}

progress::~progress() {
  show("");
}

void progress::show(std::string_view text) {
  if (is_shown_)
    fmt::print(stderr, "\r\033[K{}", text);
}

outcome run_rounds(int rounds, const std::vector<std::string>& subjects, const run_subject& run) {
  outcome made;
  auto running = subjects;
  progress shown;
  for (int round = 0; round <= rounds; ++round) {
    for (const auto& subject : std::vector{running}) {
      shown.show(round == 0 ? fmt::format("warming up: {}", subject)
                            : fmt::format("round {} of {}: {}", round, rounds, subject));
      auto observed = run(round, subject);
      if (!observed) {
        made.is_stopped = observed.error().is_stop;
        made.failures.emplace_back(subject, std::move(observed).error());
        std::erase(running, subject);
        if (made.is_stopped)
          return made;
      } else if (round > 0) {
        for (const auto& [what, value] : *observed)
          made.values.add(what, subject, round, value);
      }
    }
  }
  return made;
}

} // namespace bench
