#include "harness/process_group.hpp"

#include <utility>

#include <poll.h>

namespace bench {

namespace {

constexpr std::chrono::seconds opening_patience{20};

std::unexpected<failure> failed_with(std::string reason) {
  return std::unexpected{failure{.reason = std::move(reason)}};
}

} // namespace

std::expected<process_group, failure> process_group::start(const std::string& subject, stop_signals& signals,
                                                           const group_shape& shape) {
  process_group made{signals};
  if (auto opened = made.open(subject, shape); !opened)
    return std::unexpected{std::move(opened).error()};
  return made;
}

std::expected<void, failure> process_group::open(const std::string& subject, const group_shape& shape) {
  std::string addresses;
  while (far_.size() < shape.far_ends) {
    auto arguments = shape.words_before;
    arguments.insert(arguments.end(), {"--serve", subject});
    if (shape.numbers_far_ends)
      arguments.insert(arguments.end(), {"--number", std::to_string(far_.size())});
    auto started = child_process::start(arguments);
    if (!started)
      return failed_with(std::move(started).error());
    auto& far = far_.emplace_back(*std::move(started));
    auto address = listen(far, opening_patience, "ready ");
    if (!address)
      return std::unexpected{std::move(address).error()};
    addresses += (addresses.empty() ? "" : ",") + *address;
  }
  while (near_.size() < shape.near_ends) {
    auto arguments = shape.words_before;
    arguments.insert(arguments.end(), {"--drive", subject});
    if (!addresses.empty())
      arguments.insert(arguments.end(), {"--address", addresses});
    auto started = child_process::start(arguments);
    if (!started)
      return failed_with(std::move(started).error());
    auto ready = listen(near_.emplace_back(*std::move(started)), opening_patience, "ready", first_far());
    if (!ready) {
      ready.error().is_absent = false; // The subject is served, so failing to connect is an error.
      return std::unexpected{std::move(ready).error()};
    }
  }
  return {};
}

void process_group::place(placement where) const {
  const auto cores = usable_cores();
  const auto is_free = where == placement::as_the_system_likes;
  for (const auto& near : near_)
    near.run_on(is_free ? cores : std::vector{cores.front()});
  for (const auto& far : far_)
    far.run_on(is_free ? cores : std::vector{where == placement::a_core_each ? cores.back() : cores.front()});
}

std::expected<std::vector<std::string>, failure> process_group::ask(const std::string& question,
                                                                    std::chrono::milliseconds patience) {
  for (auto& near : near_)
    near.write_line(question);
  std::vector<std::string> answers;
  for (auto& near : near_) {
    auto answer = listen(near, patience, "took ", first_far());
    if (!answer) {
      answer.error().is_absent = false;
      answer.error().reason = question + ": " + answer.error().reason;
      return std::unexpected{std::move(answer).error()};
    }
    answers.push_back(*std::move(answer));
  }
  return answers;
}

std::chrono::nanoseconds process_group::processor_time() const {
  std::chrono::nanoseconds total{0};
  for (const auto* ends : {&near_, &far_})
    for (const auto& each : *ends)
      total += each.processor_time();
  return total;
}

std::expected<void, failure> process_group::rest(std::chrono::milliseconds duration) {
  pollfd stopped{signals_.fd(), POLLIN, 0};
  ::poll(&stopped, 1, static_cast<int>(duration.count()));
  if (const auto signal = signals_.came(); signal != 0)
    return std::unexpected{failure{.is_stop = true, .reason = "stopped by signal " + std::to_string(signal)}};
  for (auto* ends : {&near_, &far_})
    for (auto& each : *ends)
      if (auto ended = each.ended_within(std::chrono::milliseconds::zero()))
        return failed_with("at rest " + *std::move(ended));
  return {};
}

/// Returns the rest of the child's next line after `begin`. Fails if the line begins differently.
std::expected<std::string, failure> process_group::listen(child_process& child, std::chrono::milliseconds patience,
                                                          std::string_view begin, child_process* partner) {
  auto line = child.read_line(patience, signals_, partner);
  if (!line)
    return std::unexpected{failure{.is_stop = signals_.came() != 0, .reason = std::move(line).error()}};
  if (line->starts_with(begin))
    return line->substr(begin.size());
  // If its partner dies, a process fails as well, maybe before the death is seen here. The partner's end tells more.
  constexpr std::chrono::milliseconds dying{100};
  if (const auto ended = partner == nullptr ? std::nullopt : partner->ended_within(dying))
    return failed_with("at the other end " + *ended);
  constexpr std::string_view failed = "failed ";
  if (line->starts_with(failed))
    return std::unexpected{failure{.is_absent = true, .reason = line->substr(failed.size())}};
  return failed_with("an answer that is none: " + *line);
}

} // namespace bench
