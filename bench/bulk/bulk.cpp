// Two questions about large values between two actors.
//
// First: how long does a small message take there and back while two other actors send 1 GiB in messages of 16 MiB over
// the same link, and how much longer is that than on an idle link? And how quickly do the large messages pass alone,
// compared to a plain writer and reader over the same kind of socket? Measured over unix sockets and TCP, without a
// shared store, so that all bytes go through the socket in chunks. The sender of large messages sends while the link
// reports room; all bounds are the defaults. Questions are asked one at a time, before and during the transfer.
//
// Second, with a shared store: after sending a value of 256 MiB, how long does it take until an actor in another
// process has read it and its answer has arrived, beyond the time for 64 KiB, compared to copying as many bytes? The
// value is an ordinary message argument in the sender's own memory, which moves into the store when it is sent. Store
// and buffers have been used before.
//
// The processes are started anew in every round and have a core each, because waking a thread takes most of an idle
// round trip, and its time depends on the cores (harness/process_group.hpp). Round 0 warms up.
#include "bulk/limits.hpp"
#include "bulk/options.hpp"
#include "bulk/subjects.hpp"
#include "harness/report.hpp"
#include "harness/rounds.hpp"
#include "harness/steps.hpp"
#include "peers/troupe_process.hpp"

#include <fmt/format.h>

#include <fstream>
#include <iostream>

namespace bench {

namespace {

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
  const auto outcome = run_rounds(told.rounds, told.subjects, [&](int, const std::string& subject) {
    return find_bulk_subject(subject)->run_round(told, signals);
  });
  if (outcome.is_stopped)
    return 128 + signals.came();

  const auto rows = outcome.values.rows(bulk_peers());
  std::cout << table(rows, bulk_peers());
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
  std::vector<std::string> subjects;
  for (const auto& each : bench::bulk_subjects())
    subjects.push_back(each.name);
  const auto told = bench::read_bulk_options(argument_count, arguments, subjects);
  if (!told)
    return told.error();
  if (!told->serve.empty())
    return bench::serve_steps(bench::find_bulk_subject(told->serve)->serve);
  if (!told->drive.empty())
    return bench::drive_steps([&] { return bench::find_bulk_subject(told->drive)->connect(told->address); });
  return bench::measure(*told);
}
