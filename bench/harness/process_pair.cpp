#include "harness/process_pair.hpp"

#include <utility>

namespace bench {

namespace {

constexpr std::chrono::seconds opening_patience{20};

std::unexpected<failure> failed_with(std::string reason) {
  return std::unexpected{failure{.reason = std::move(reason)}};
}

} // namespace

std::expected<process_pair, failure> process_pair::start(const std::string& subject, stop_signals& signals) {
  auto far = child_process::start({"--serve", subject});
  if (!far)
    return failed_with(std::move(far).error());
  process_pair made{*std::move(far), signals};
  if (auto opened = made.open(subject); !opened)
    return std::unexpected{std::move(opened).error()};
  return made;
}

std::expected<void, failure> process_pair::open(const std::string& subject) {
  auto address = listen(far_, opening_patience, "ready ");
  if (!address)
    return std::unexpected{std::move(address).error()};
  auto near = child_process::start({"--drive", subject, "--address", *address});
  if (!near)
    return failed_with(std::move(near).error());
  near_.emplace(*std::move(near));
  auto ready = listen(*near_, opening_patience, "ready", &far_);
  if (!ready) {
    ready.error().is_absent = false; // What can be served has to be reachable.
    return std::unexpected{std::move(ready).error()};
  }
  return {};
}

void process_pair::place(placement where) const {
  const auto cores = usable_cores();
  const auto is_free = where == placement::as_the_system_likes;
  near_->run_on(is_free ? cores : std::vector{cores.front()});
  far_.run_on(is_free ? cores : std::vector{where == placement::a_core_each ? cores.back() : cores.front()});
}

std::expected<std::string, failure> process_pair::ask(const std::string& question, std::chrono::milliseconds patience) {
  near_->write_line(question);
  auto answer = listen(*near_, patience, "took ", &far_);
  if (!answer) {
    answer.error().is_absent = false;
    answer.error().reason = question + ": " + answer.error().reason;
  }
  return answer;
}

/// The rest of the child's next line, which has to begin with `begin`.
std::expected<std::string, failure> process_pair::listen(child_process& child, std::chrono::milliseconds patience,
                                                         std::string_view begin, child_process* partner) {
  auto line = child.read_line(patience, signals_, partner);
  if (!line)
    return std::unexpected{failure{.is_stop = signals_.came() != 0, .reason = std::move(line).error()}};
  if (line->starts_with(begin))
    return line->substr(begin.size());
  // A process whose partner dies fails too, maybe before the death is seen here, and knows less about it.
  constexpr std::chrono::milliseconds dying{100};
  if (const auto ended = partner == nullptr ? std::nullopt : partner->ended_within(dying))
    return failed_with("at the other end " + *ended);
  constexpr std::string_view failed = "failed ";
  if (line->starts_with(failed))
    return std::unexpected{failure{.is_absent = true, .reason = line->substr(failed.size())}};
  return failed_with("an answer that is none: " + *line);
}

} // namespace bench
