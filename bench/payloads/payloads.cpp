// How long does it take until a receiver in another process has read a large value and its answer has arrived? From 64
// KiB to 256 MiB, one at a time, compared with alternatives.
//
// When the clock starts, the value lies in the sender's own memory. If a peer must first copy it elsewhere, that
// counts. The receiver reads the value's front and end, which tell its number and size, and answers with the number.
// For Troupe, the value is an ordinary message argument, sent over a socket or through a store that the two processes
// share.
//
// The processes are started anew in every round and have a core each. Before each size is measured, a tenth of the
// values is sent, at least one, so that buffers and stores have been used. A round counts with the median of its
// values. Round 0 warms up.
#include "harness/process_group.hpp"
#include "harness/report.hpp"
#include "harness/rounds.hpp"
#include "harness/steps.hpp"
#include "payloads/options.hpp"
#include "payloads/subjects.hpp"
#include "peers/run_store.hpp"
#include "peers/troupe_process.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iostream>

namespace bench {

namespace {

struct payload_size {
  std::size_t bytes;
  const char* name;
};

constexpr payload_size sizes[] = {
    {64 << 10, "64 KiB"}, {1 << 20, "1 MiB"}, {16 << 20, "16 MiB"}, {256 << 20, "256 MiB"}};

/// Returns the number of values of one size. The number is bounded, so that small values do not take longer than large
/// values.
std::uint64_t count_of(std::size_t size_bytes, std::size_t bytes_each) {
  constexpr std::uint64_t least = 3;
  constexpr std::uint64_t most = 300;
  return std::clamp<std::uint64_t>(bytes_each / size_bytes, least, most);
}

std::expected<observations, failure> run_round(const std::string& subject, const payload_options& told,
                                               stop_signals& signals) {
  auto group = process_group::start(subject, signals);
  if (!group)
    return std::unexpected{std::move(group).error()};
  group->place(placement::a_core_each);
  observations made;
  for (const auto& size : sizes) {
    if (size.bytes > told.largest_bytes)
      continue;
    const auto count = count_of(size.bytes, told.bytes_each);
    const auto warm = ask(*group, {"hand-over", count / 10 + 1, size.bytes}, 1, told.deadline);
    const auto took = warm ? ask(*group, {"hand-over", count, size.bytes}, 1, told.deadline) : warm;
    if (!took)
      return std::unexpected{took.error()};
    made.emplace_back(quantity{fmt::format("{} there and answered", size.name), "ms"}, took->at(0) * 1e3);
  }
  return made;
}

std::expected<step_taker, std::string> connect(const subject& who, const std::string& address) {
  auto near = who.connect(address);
  if (!near)
    return std::unexpected{std::move(near).error()};
  return step_taker{
      [near = std::shared_ptr<near_end>{*std::move(near)}](const step& next) -> std::expected<numbers, std::string> {
        const auto took = near->hand_over(next.count, next.size_bytes);
        if (!took)
          return std::unexpected{took.error()};
        std::vector<double> values;
        for (const auto one : *took)
          values.push_back(one.count());
        return numbers{median(std::move(values))};
      }};
}

int measure(const payload_options& told) {
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
  const auto outcome = run_rounds(
      told.rounds, told.subjects, [&](int, const std::string& subject) -> std::expected<observations, failure> {
        if (!needs_store(subject))
          return run_round(subject, told, signals);
        const auto store = make_store_of_this_run(told.largest_bytes); // Outlives the processes.
        if (!store)
          return std::unexpected{failure{.reason = store.error()}};
        return run_round(subject, told, signals);
      });
  if (outcome.is_stopped)
    return 128 + signals.came();

  std::vector<std::string> peers;
  for (const auto& each : payload_subjects())
    peers.push_back(each.name);
  const auto rows = outcome.values.rows(peers);
  std::cout << table(rows, {"troupe-unix", "troupe-store", "memcpy"});
  bool all_well = true;
  for (const auto& [subject, failed] : outcome.failures) {
    std::cout << fmt::format("\n{} {}: {}\n", subject, failed.is_absent ? "not available" : "failed", failed.reason);
    all_well = all_well && failed.is_absent;
  }
  if (json.is_open())
    write_json(json, "payloads", rows, outcome.failures);
  return all_well ? 0 : 1;
}

} // namespace

} // namespace bench

int main(int argument_count, char** arguments) {
  std::vector<std::string> subjects;
  for (const auto& each : bench::payload_subjects())
    subjects.push_back(each.name);
  const auto told = bench::read_payload_options(argument_count, arguments, subjects);
  if (!told)
    return told.error();
  try {
    if (!told->serve.empty())
      return bench::serve_steps(bench::find_payload_subject(told->serve)->serve);
    if (!told->drive.empty())
      return bench::drive_steps(
          [&] { return bench::connect(*bench::find_payload_subject(told->drive), told->address); });
  } catch (const std::exception& error) { // Thrown by a peer's library.
    std::cout << "failed " << error.what() << std::endl;
    return 1;
  }
  return bench::measure(*told);
}
