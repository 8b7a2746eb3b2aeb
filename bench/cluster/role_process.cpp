#include "cluster/questions.hpp"

#include <algorithm>
#include <cstdint>
#include <random>
#include <sstream>
#include <utility>

#include <fmt/format.h>
#include <poll.h>

namespace bench {

std::unexpected<failure> failed_step(std::string reason) {
  return std::unexpected{failure{.reason = std::move(reason)}};
}

std::expected<void, failure> pause_for(cluster_run& run, std::chrono::milliseconds time) {
  pollfd stopped{run.signals.fd(), POLLIN, 0};
  ::poll(&stopped, 1, static_cast<int>(time.count()));
  if (const auto signal = run.signals.came(); signal != 0)
    return std::unexpected{failure{.is_stop = true, .reason = "stopped by signal " + std::to_string(signal)}};
  return {};
}

std::expected<void, failure> pause_between_keep_alives(cluster_run& run) {
  std::mt19937 random{static_cast<unsigned>(run.round)};
  std::uniform_int_distribution<std::int64_t> phase{0, std::chrono::milliseconds{run.told.lease}.count() / 3};
  return pause_for(run, std::chrono::milliseconds{phase(random)});
}

std::expected<role_process, failure> role_process::start(cluster_run& run, const std::string& role,
                                                         std::size_t number) {
  const auto& told = run.told;
  auto child = child_process::start({"--be", role, "--directory", run.directory, "--number", std::to_string(number),
                                     "--lease", std::to_string(told.lease.count()), "--nodes",
                                     std::to_string(told.nodes), "--processes", std::to_string(told.processes)});
  if (!child)
    return failed_step(std::move(child).error());
  role_process made{run, *std::move(child)};
  made.asked_ = role;
  if (auto ready = made.listen("ready"); !ready)
    return std::unexpected{std::move(ready).error()};
  return made;
}

void role_process::begin(const step& next) {
  asked_ = fmt::format("{} {} {}", next.name, next.count, next.size_bytes);
  child_.write_line(asked_);
}

std::expected<numbers, failure> role_process::finish(std::size_t numbers_count) {
  const auto answer = listen("took ");
  if (!answer)
    return std::unexpected{answer.error()};
  std::istringstream words{*answer};
  numbers values;
  for (double value = 0; words >> value;)
    values.push_back(value);
  if (values.size() != numbers_count)
    return failed_step(asked_ + ": an answer that is none: " + *answer);
  return values;
}

std::expected<numbers, failure> role_process::take(const step& next, std::size_t numbers_count) {
  begin(next);
  return finish(numbers_count);
}

/// Returns the rest of the child's next line after `begin`. Fails if the line begins differently.
std::expected<std::string, failure> role_process::listen(const std::string& begin) {
  auto line = child_.read_line(run_->told.deadline, run_->signals);
  if (!line)
    return std::unexpected{
        failure{.is_stop = run_->signals.came() != 0, .reason = asked_ + ": " + std::move(line).error()}};
  if (!line->starts_with(begin))
    return failed_step(asked_ + ": " + *line);
  return line->substr(begin.size());
}

} // namespace bench
