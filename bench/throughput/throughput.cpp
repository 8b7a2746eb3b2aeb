// Five questions. How many small messages per second pass between actors of two processes, how long does a message take
// there and back on an idle system, and how does that compare with alternatives? What do counting and logging cost? How
// many messages pass from eight processes to an actor of one, and from an actor of one to eight, in total, compared
// with one pair? How many structs per second pass between actors of two processes if each message carries 100 of them?
// And does a node cost the actors of its own process anything, compared with plain CAF?
//
// One way: a producer streams and a consumer counts, until the consumer has the last message. Pipelined echo: 100
// requests in flight, each answered with the message. Idle round trip: one request at a time, with the two processes
// where the system puts them, on a core each, and on one core. Processor time of both ends: for a message one way, and
// at rest, which shows the subjects that poll. All subjects have at most 20,000 messages in flight between two
// processes, or 20,000 structs if a message carries many; see peers/small_messages.hpp. Local actors are measured in
// two processes with the same scheduler options: one has a node that listens and has an idle link, the other has no
// node.
//
// The ends of a subject are separate processes, started anew in every round. Idle processes of other subjects would
// disturb (CAF's workers may poll), and one process's lucky or unlucky addresses and threads must not affect a whole
// run. Each case first runs at a tenth of its size, to warm the processes up. Round 0 finds out which subjects can run
// on this machine, and how many messages fill the time of a case.
#include "harness/child_process.hpp"
#include "harness/process_group.hpp"
#include "harness/report.hpp"
#include "harness/rounds.hpp"
#include "peers/troupe_process.hpp"
#include "throughput/floors.hpp"
#include "throughput/options.hpp"
#include "throughput/questions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>

namespace bench {

namespace {

// In addition to the lines of harness/process_group.hpp, the near processes are sent "CASE MESSAGES", and each answers
// "took SECONDS VALUE...".

int serve(const subject& who) {
  const auto served = who.serve([](const std::string& address) { std::cout << "ready " << address << std::endl; });
  if (!served)
    std::cout << "failed " << served.error() << std::endl;
  return served ? 0 : 1;
}

int drive(const subject& who, const std::string& address) {
  const auto near = who.connect(address);
  if (!near) {
    std::cout << "failed " << near.error() << std::endl;
    return 1;
  }
  std::cout << "ready" << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words{line};
    std::string name;
    std::uint64_t messages = 0;
    words >> name >> messages;
    const auto measured = run_case(*find_case(name), **near, messages);
    if (!measured) {
      std::cout << "failed " << measured.error() << std::endl;
      continue;
    }
    std::cout << "took " << measured->took.count();
    for (const auto value : measured->values)
      std::cout << ' ' << value;
    std::cout << std::endl;
  }
  std::_Exit(0); // The measurement is over; a subject's shutdown is not measured.
}

/// Parses an answer.
std::expected<measurement, failure> read_answer(const measured_case& what, const std::string& answer) {
  std::istringstream numbers{answer};
  double took = 0;
  numbers >> took;
  measurement made{seconds{took}, {}};
  for (double value = 0; numbers >> value;)
    made.values.push_back(value);
  if (made.values.size() != what.quantities.size())
    return std::unexpected{failure{.reason = "an answer that is none: took " + answer}};
  return made;
}

using nanoseconds = std::chrono::duration<double, std::nano>;

/// One subject's processes in one round.
class running {
public:
  static std::expected<running, failure> start(const participant& who, stop_signals& signals,
                                               std::chrono::seconds deadline) {
    auto group = process_group::start(who.who.name, signals, who.shape);
    if (!group)
      return std::unexpected{std::move(group).error()};
    return running{*std::move(group), who.shape, deadline};
  }

  /// Runs a case.
  std::expected<measurement, failure> run(const measured_case& what, std::uint64_t messages) {
    const auto streams = shape_.far_ends * shape_.near_ends;
    const auto of_each = std::max<std::uint64_t>(messages / streams, 1);
    group_.place(what.where);
    const auto processors_before = group_.processor_time();
    const auto begin = bench_clock::now();
    auto answers = group_.ask(fmt::format("{} {}", what.name, of_each), deadline_);
    const seconds took = bench_clock::now() - begin;
    if (!answers)
      return std::unexpected{std::move(answers).error()};
    if (what.does == exchange::one_way_together)
      return measurement{took, {static_cast<double>(of_each * streams) / took.count()}};
    auto made = read_answer(what, answers->front());
    if (made && !what.quantities_outside.empty())
      made->values.push_back(nanoseconds{group_.processor_time() - processors_before}.count()
                             / static_cast<double>(messages));
    return made;
  }

  /// Lets the processes rest for `duration`. A time before it, when they may still poll for messages, is not measured.
  std::expected<measurement, failure> rest(const measured_case& what, seconds duration) {
    using std::chrono::milliseconds;
    constexpr milliseconds settling{100};
    group_.place(what.where);
    if (auto settled = group_.rest(settling); !settled)
      return std::unexpected{std::move(settled).error()};
    const auto processors_before = group_.processor_time();
    const auto begin = bench_clock::now();
    if (auto rested = group_.rest(std::chrono::duration_cast<milliseconds>(duration)); !rested)
      return std::unexpected{std::move(rested).error()};
    const seconds busy = group_.processor_time() - processors_before;
    const seconds took = bench_clock::now() - begin;
    return measurement{took, {std::max(100 * busy / took, rest_percent_min)}};
  }

private:
  running(process_group group, const group_shape& shape, std::chrono::seconds deadline)
      : group_(std::move(group)), shape_(shape), deadline_(deadline) {}

  process_group group_;
  group_shape shape_;
  std::chrono::seconds deadline_;
};

/// Runs the cases of a question, and keeps the number of messages for each subject and case.
class measuring {
public:
  measuring(const options& told, std::vector<measured_case> cases, stop_signals& signals)
      : told_(told), cases_(std::move(cases)), signals_(signals) {}

  std::expected<observations, failure> operator()(int round, const std::string& subject) {
    auto processes = running::start(*find_subject(subject), signals_, told_.deadline);
    if (!processes)
      return std::unexpected{std::move(processes).error()};
    observations made;
    for (const auto& what : cases_) {
      if (what.does == exchange::nothing) {
        if (round == 0)
          continue;
        const auto rested = processes->rest(what, duration_of_rest());
        if (!rested)
          return std::unexpected{rested.error()};
        made.emplace_back(what.quantities_outside.front(), rested->values.front());
        continue;
      }
      auto& messages = messages_[{subject, what.name}];
      if (round == 0) {
        auto enough = find_enough(*processes, what);
        if (!enough)
          return std::unexpected{std::move(enough).error()};
        messages = *enough;
        continue;
      }
      if (const auto warm = processes->run(what, std::max<std::uint64_t>(messages / 10, 1)); !warm)
        return std::unexpected{warm.error()};
      auto measured = processes->run(what, messages);
      if (!measured)
        return std::unexpected{std::move(measured).error()};
      auto quantities = what.quantities;
      quantities.insert(quantities.end(), what.quantities_outside.begin(), what.quantities_outside.end());
      for (std::size_t i = 0; i < quantities.size(); ++i)
        made.emplace_back(quantities[i], measured->values[i]);
    }
    return made;
  }

private:
  /// Longer than a case, so that it covers timers that tick every half second.
  [[nodiscard]] seconds duration_of_rest() const { return seconds{told_.messages != 0 ? 0.1 : 2 * told_.seconds}; }

  /// The number of messages that take the requested time.
  std::expected<std::uint64_t, failure> find_enough(running& processes, const measured_case& what) {
    if (told_.messages != 0) {
      if (auto tried = processes.run(what, std::max<std::uint64_t>(told_.messages / 10, 1)); !tried)
        return std::unexpected{std::move(tried).error()};
      return told_.messages;
    }
    for (std::uint64_t messages = 100;; messages *= 10) {
      auto tried = processes.run(what, messages);
      if (!tried)
        return std::unexpected{std::move(tried).error()};
      const auto parts = tried->took.count() / told_.seconds; // As a part of the requested time.
      if (parts > 0.1)
        return std::max<std::uint64_t>(static_cast<std::uint64_t>(static_cast<double>(messages) / parts), 1);
    }
  }

  const options& told_;
  const std::vector<measured_case> cases_;
  stop_signals& signals_;
  std::map<std::pair<std::string, std::string_view>, std::uint64_t> messages_; // By subject and case.
};

/// Measures the requested subjects and cases of a question. Without any of them, returns an empty outcome.
outcome measure(const question& asked, const options& told, stop_signals& signals) {
  std::vector<std::string> subjects;
  for (const auto& each : asked.subjects)
    if (std::ranges::find(told.subjects, each.who.name) != told.subjects.end())
      subjects.push_back(each.who.name);
  std::vector<measured_case> cases;
  for (const auto& each : asked.cases)
    if (std::ranges::find(told.cases, each.name) != told.cases.end())
      cases.push_back(each);
  if (subjects.empty() || cases.empty())
    return {};
  const auto rounds = told.rounds == 0 ? asked.rounds : told.rounds;
  return run_rounds(rounds, subjects, measuring{told, std::move(cases), signals});
}

int measure(const options& told) {
  std::ofstream json;
  if (!told.json_file.empty()) {
    json.open(told.json_file);
    if (!json) {
      std::cerr << "cannot write " << told.json_file << '\n';
      return 2;
    }
  }
  make_secret_of_this_run();
  stop_signals signals;
  std::vector<row> rows;
  std::vector<std::pair<std::string, failure>> failures;
  bool all_well = true;
  for (const auto& asked : all_questions()) {
    const auto outcome = measure(asked, told, signals);
    if (outcome.is_stopped)
      return 128 + signals.came();
    const auto some = outcome.values.rows(asked.peers);
    if (!some.empty())
      std::cout << (rows.empty() ? "" : "\n")
                << table(some, asked.shown_peers.empty() ? asked.peers : asked.shown_peers) << std::flush;
    for (const auto& [subject, failed] : outcome.failures) {
      std::cout << fmt::format("\n{} {}: {}\n", subject, failed.is_absent ? "not available" : "failed", failed.reason);
      all_well = all_well && failed.is_absent;
    }
    rows.insert(rows.end(), some.begin(), some.end());
    failures.insert(failures.end(), outcome.failures.begin(), outcome.failures.end());
  }
  if (json.is_open())
    write_json(json, "throughput", rows, failures);
  if (told.check_floors) {
    std::cout << '\n';
    all_well = check_floors(rows, std::cout) && all_well;
  }
  return all_well ? 0 : 1;
}

} // namespace

} // namespace bench

int main(int argument_count, char** arguments) {
  const auto told = bench::read_options(argument_count, arguments);
  if (!told)
    return told.error();
  try {
    if (!told->serve.empty())
      return bench::serve(bench::find_subject(told->serve)->who);
    if (!told->drive.empty())
      return bench::drive(bench::find_subject(told->drive)->who, told->address);
  } catch (const std::exception& error) { // Thrown by a peer's library.
    std::cout << "failed " << error.what() << std::endl;
    return 1;
  }
  return bench::measure(*told);
}
