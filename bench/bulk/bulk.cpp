// Question: how long does a small message take there and back between two actors while 1 GiB in messages of 16 MiB
// passes between two others on the same link, and how much longer is that than when the link is idle?
//
// Two processes, over unix sockets and over TCP, without a shared store, so that all bytes go through the socket, in
// chunks. The sender of the large messages sends while the link says that it has room; all bounds are the defaults.
// Questions are asked one at a time, before and during the transfer. The processes are started anew in every round and
// have a core each: waking is what an idle round trip costs, and that depends on where the two run
// (harness/process_pair.hpp). Round 0 warms up.
#include "bulk/ends.hpp"
#include "bulk/limits.hpp"
#include "bulk/options.hpp"
#include "harness/child_process.hpp"
#include "harness/process_pair.hpp"
#include "harness/report.hpp"
#include "harness/rounds.hpp"
#include "peers/troupe_process.hpp"

#include <fmt/format.h>

#include <fstream>
#include <sstream>

namespace bench {

namespace {

const std::vector<std::string> all_subjects{"troupe-unix", "troupe-tcp"};

int serve(const std::string& subject) {
  die_with_parent();
  const auto served = serve_bulk(subject == "troupe-unix" ? unix_address() : tcp_address(),
                                 [](const std::string& address) { std::cout << "ready " << address << std::endl; });
  if (!served)
    std::cout << "failed " << served.error() << std::endl;
  return served ? 0 : 1;
}

std::string percentiles(const std::vector<seconds>& round_trips) {
  std::vector<double> microseconds;
  for (const auto one : round_trips)
    microseconds.push_back(one.count() * 1e6);
  return fmt::format("{} {}", percentile(microseconds, 50), percentile(microseconds, 99));
}

// What the processes say beyond what harness/process_pair.hpp asks for: "STEP COUNT" to the near one, and "took
// SECONDS" from it, or "took P50 P99" in microseconds, or both.

std::expected<std::string, std::string> take_step(bulk_near_end& near, const std::string& step, std::uint64_t count) {
  if (step == "idle") {
    const auto asked = near.ask(count);
    return asked ? percentiles(*asked) : std::expected<std::string, std::string>{std::unexpected{asked.error()}};
  }
  if (step == "bulk") {
    const auto sent = near.send_bulk(count);
    return sent ? std::to_string(sent->count())
                : std::expected<std::string, std::string>{std::unexpected{sent.error()}};
  }
  const auto done = near.ask_beside_bulk(count);
  if (!done)
    return std::unexpected{done.error()};
  return fmt::format("{} {}", done->bulk_took.count(), percentiles(done->round_trips));
}

int drive(const std::string& address) {
  die_with_parent();
  const auto near = bulk_near_end::connect(address);
  if (!near) {
    std::cout << "failed " << near.error() << std::endl;
    return 1;
  }
  std::cout << "ready" << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words{line};
    std::string step;
    std::uint64_t count = 0;
    words >> step >> count;
    const auto taken = take_step(**near, step, count);
    std::cout << (taken ? "took " + *taken : "failed " + taken.error()) << std::endl;
  }
  std::_Exit(0); // What is measured is over.
}

/// Lets a pair take a step; gives the numbers of its answer.
std::expected<std::vector<double>, failure> ask(process_pair& pair, const std::string& step, std::uint64_t count,
                                                std::size_t numbers, std::chrono::seconds deadline) {
  auto answer = pair.ask(fmt::format("{} {}", step, count), deadline);
  if (!answer)
    return std::unexpected{std::move(answer).error()};
  std::istringstream words{*answer};
  std::vector<double> values;
  for (double value = 0; words >> value;)
    values.push_back(value);
  if (values.size() != numbers)
    return std::unexpected{failure{.reason = "an answer that is none: took " + *answer}};
  return values;
}

std::expected<observations, failure> run_round(const bulk_options& told, const std::string& subject,
                                               stop_signals& signals) {
  auto pair = process_pair::start(subject, signals);
  if (!pair)
    return std::unexpected{std::move(pair).error()};
  pair->place(placement::a_core_each);
  const auto fraction = [](std::uint64_t count) { return count / 10 + 1; };
  // Both kinds once, shortly, to warm the pair up.
  const auto warm = ask(*pair, "beside", fraction(told.bulk_messages), 3, told.deadline);
  if (!warm)
    return std::unexpected{warm.error()};
  const auto idle = ask(*pair, "idle", told.round_trips, 2, told.deadline);
  if (!idle)
    return std::unexpected{idle.error()};
  const auto bulk = ask(*pair, "bulk", told.bulk_messages, 1, told.deadline);
  if (!bulk)
    return std::unexpected{bulk.error()};
  const auto beside = ask(*pair, "beside", told.bulk_messages, 3, told.deadline);
  if (!beside)
    return std::unexpected{beside.error()};
  const auto megabytes = static_cast<double>(told.bulk_messages) * static_cast<double>(bulk_frame_bytes) / 1e6;
  return observations{
      {{"idle round trip p50", "us"}, idle->at(0)},
      {{"idle round trip p99", "us"}, idle->at(1)},
      {{"round trip beside bulk p50", "us"}, beside->at(1)},
      {{"round trip beside bulk p99", "us"}, beside->at(2)},
      {{slowdown_name, "times"}, beside->at(1) / idle->at(0)},
      {{"bulk alone", "MB/s"}, megabytes / bulk->at(0)},
      {{"bulk beside round trips", "MB/s"}, megabytes / beside->at(0)},
  };
}

int measure(const bulk_options& told) {
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
  const auto outcome = run_rounds(told.rounds, told.subjects,
                                  [&](int, const std::string& subject) { return run_round(told, subject, signals); });
  if (outcome.is_stopped)
    return 128 + signals.came();

  const auto rows = outcome.values.rows({});
  std::cout << table(rows, {});
  bool all_well = true;
  for (const auto& [subject, failed] : outcome.failures) {
    std::cout << fmt::format("\n{} {}: {}\n", subject, failed.is_absent ? "not available" : "failed", failed.reason);
    all_well = all_well && failed.is_absent;
  }
  for (const auto& row : rows)
    if (json.is_open())
      json << json_line("bulk", row) << '\n';
  if (told.shows_limits) {
    std::cout << '\n';
    all_well = (check_limits(rows, std::cout) || !told.has_to_meet_limits) && all_well;
  }
  return all_well ? 0 : 1;
}

} // namespace

} // namespace bench

int main(int argument_count, char** arguments) {
  const auto told = bench::read_bulk_options(argument_count, arguments, bench::all_subjects);
  if (!told)
    return told.error();
  if (!told->serve.empty())
    return bench::serve(told->serve);
  if (!told->drive.empty())
    return bench::drive(told->address);
  return bench::measure(*told);
}
