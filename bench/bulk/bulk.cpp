// Two questions about large values between two actors.
//
// How long does a small message take there and back between two actors while 1 GiB in messages of 16 MiB passes between
// two others on the same link, and how much longer is that than when the link is idle; and how quickly do they pass
// with nothing beside them, compared to what a plain writer and a plain reader do over the same kind of socket? Over
// unix sockets and over TCP, without a shared store, so that all bytes go through the socket, in chunks. The sender of
// the large messages sends while the link says that it has room; all bounds are the defaults. Questions are asked one
// at a time, before and during the transfer.
//
// And with a shared store: how long until an actor of another process has a value of 256 MiB before it and its answer
// is here, beyond what 64 KiB take, compared to copying as much? The value is a message's ordinary argument, in memory
// of the sender's own, which goes into the store once it is sent. Store and buffers were used before.
//
// The processes are started anew in every round and have a core each: waking is what an idle round trip costs, and that
// depends on where the two run (harness/process_group.hpp). Round 0 warms up.
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
