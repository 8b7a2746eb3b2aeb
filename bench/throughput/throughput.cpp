// Question: how many small messages a second go between actors of two processes, and how long does one take there and
// back when nothing else is going on; and how does that compare to what a user would pick instead?
//
// One way: a producer streams, a consumer counts, until the consumer has the last one. Pipelined echo: 100 requests
// under way, each answered with the message. Idle round trip: one request at a time, with the two processes where the
// system puts them, on a core each, and on one core. For every subject alike, no more than 20,000 messages are under
// way, see peers/small_messages.hpp.
//
// Both ends of a subject are processes of their own, started anew in every round: idle ones of other subjects would
// disturb (CAF's workers may poll), and the luck of one process's addresses and threads shall not be that of a whole
// run. Each case is first run at a tenth of its size to warm such a pair up. Round 0 finds out who can run here at all,
// and how many messages fill the time that a case shall take.
#include "harness/child_process.hpp"
#include "harness/process_pair.hpp"
#include "harness/report.hpp"
#include "harness/rounds.hpp"
#include "peers/troupe_process.hpp"
#include "throughput/cases.hpp"
#include "throughput/floors.hpp"
#include "throughput/options.hpp"
#include "throughput/subjects.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>

namespace bench {

namespace {

// What the processes say beyond what harness/process_pair.hpp asks for: "CASE MESSAGES" to the near one, and
// "took SECONDS VALUE..." from it.

int serve(const subject& who) {
  die_with_parent();
  const auto served = who.serve([](const std::string& address) { std::cout << "ready " << address << std::endl; });
  if (!served)
    std::cout << "failed " << served.error() << std::endl;
  return served ? 0 : 1;
}

int drive(const subject& who, const std::string& address) {
  die_with_parent();
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
  std::_Exit(0); // What is measured is over; how a subject ends is not the question.
}

/// Lets a pair run a case.
std::expected<measurement, failure> run(process_pair& pair, const measured_case& what, std::uint64_t messages,
                                        std::chrono::seconds deadline) {
  pair.place(what.where);
  auto answer = pair.ask(fmt::format("{} {}", what.name, messages), deadline);
  if (!answer)
    return std::unexpected{std::move(answer).error()};
  std::istringstream numbers{*answer};
  double took = 0;
  numbers >> took;
  measurement made{seconds{took}, {}};
  for (double value = 0; numbers >> value;)
    made.values.push_back(value);
  if (made.values.size() != what.quantities.size())
    return std::unexpected{failure{.reason = "an answer that is none: took " + *answer}};
  return made;
}

/// Runs the cases, and remembers for every subject how many messages each takes.
class measuring {
public:
  measuring(const options& told, stop_signals& signals) : told_(told), signals_(signals) {}

  std::expected<observations, failure> operator()(int round, const std::string& subject) {
    auto pair = process_pair::start(subject, signals_);
    if (!pair)
      return std::unexpected{std::move(pair).error()};
    observations made;
    for (const auto& name : told_.cases) {
      const auto& what = *find_case(name);
      auto& messages = messages_[{subject, name}];
      if (round == 0) {
        auto enough = find_enough(*pair, what);
        if (!enough)
          return std::unexpected{std::move(enough).error()};
        messages = *enough;
        continue;
      }
      if (const auto warm = run(*pair, what, std::max<std::uint64_t>(messages / 10, 1), told_.deadline); !warm)
        return std::unexpected{warm.error()};
      auto measured = run(*pair, what, messages, told_.deadline);
      if (!measured)
        return std::unexpected{std::move(measured).error()};
      for (std::size_t i = 0; i < what.quantities.size(); ++i)
        made.emplace_back(what.quantities[i], measured->values[i]);
    }
    return made;
  }

private:
  /// How many messages take the time that was asked for.
  std::expected<std::uint64_t, failure> find_enough(process_pair& pair, const measured_case& what) {
    if (told_.messages != 0) {
      if (auto tried = run(pair, what, std::max<std::uint64_t>(told_.messages / 10, 1), told_.deadline); !tried)
        return std::unexpected{std::move(tried).error()};
      return told_.messages;
    }
    for (std::uint64_t messages = 100;; messages *= 10) {
      auto tried = run(pair, what, messages, told_.deadline);
      if (!tried)
        return std::unexpected{std::move(tried).error()};
      const auto parts = tried->took.count() / told_.seconds; // Of the time that was asked for.
      if (parts > 0.1)
        return std::max<std::uint64_t>(static_cast<std::uint64_t>(static_cast<double>(messages) / parts), 1);
    }
  }

  const options& told_;
  stop_signals& signals_;
  std::map<std::pair<std::string, std::string>, std::uint64_t> messages_; // By subject and case.
};

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
  const auto outcome = run_rounds(told.rounds, told.subjects, measuring{told, signals});
  if (outcome.is_stopped)
    return 128 + signals.came();

  const auto rows = outcome.values.rows(all_peers());
  std::cout << table(rows, all_peers());
  bool all_well = true;
  for (const auto& [subject, failed] : outcome.failures) {
    std::cout << fmt::format("\n{} {}: {}\n", subject, failed.is_absent ? "not available" : "failed", failed.reason);
    all_well = all_well && failed.is_absent;
  }
  for (const auto& row : rows)
    if (json.is_open())
      json << json_line("throughput", row) << '\n';
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
      return bench::serve(*bench::find_subject(told->serve));
    if (!told->drive.empty())
      return bench::drive(*bench::find_subject(told->drive), told->address);
  } catch (const std::exception& error) { // Of Asio or ZeroMQ.
    std::cout << "failed " << error.what() << std::endl;
    return 1;
  }
  return bench::measure(*told);
}
