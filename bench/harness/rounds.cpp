#include "harness/rounds.hpp"

#include <algorithm>
#include <chrono>

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

namespace {

[[nodiscard]] double now_in_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Predicts the duration of rounds.
class pace {
public:
  pace(int rounds, std::size_t subjects, double total_seconds)
      : rounds_(rounds), subjects_(static_cast<double>(subjects)), end_(now_in_seconds() + total_seconds) {}

  /// Whether that round may begin in the remaining time.
  [[nodiscard]] bool begins(int round) {
    const auto now = now_in_seconds();
    if (round <= 1)
      begin_ = now;
    return round <= 1 || now + (now - begin_) / (round - 1) <= end_;
  }

  /// "round 2 of 5: ipc, about 70 s left".
  [[nodiscard]] std::string text(int round, const std::string& subject, std::size_t at) const {
    if (round == 0)
      return fmt::format("warming up: {}", subject);
    auto made = fmt::format("round {} of {}: {}", round, rounds_, subject);
    const auto done = round - 1 + static_cast<double>(at) / subjects_;
    if (round > 1)
      made += fmt::format(", about {:.0f} s left",
                          std::min((now_in_seconds() - begin_) * (rounds_ - done) / done, end_ - now_in_seconds()));
    return made;
  }

private:
  int rounds_;
  double subjects_;
  double begin_ = 0; // When round 1 began.
  double end_;
};

} // namespace

outcome run_rounds(int rounds, const std::vector<std::string>& subjects, const run_subject& run, double total_seconds) {
  outcome made;
  auto running = subjects;
  progress shown;
  pace clock{rounds, subjects.size(), total_seconds};
  for (int round = 0; round <= rounds && clock.begins(round); ++round) {
    std::size_t at = 0;
    for (const auto& subject : std::vector{running}) {
      shown.show(clock.text(round, subject, at++));
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
    made.rounds = round;
  }
  return made;
}

} // namespace bench
