// Four questions about references to large values.
//
// How long does a request take that carries a reference to 256 MiB in a store that both ends share, compared to a
// request with a small message? Each reference is to its own value, made just before; the answering actor reads the
// value's first and last byte. The two kinds of request alternate, one at a time.
//
// How long does object_ref::get() take if the bytes are on this host, by size, compared to finding and pinning the same
// object in the store? Measured for values made by the process itself, values from a process with the same store, and
// values fetched from another host.
//
// How quickly do large values arrive from another host, compared to as many bytes between a plain writer and a plain
// reader, over TCP on the loopback device? Hosts are stores of different names. Each process has used all memory of its
// stores and buffers before. Otherwise the first use of each page would take most of the measured time.
//
// When a reference passes around a ring of eight processes, on one host or in pairs on four, and each process reads the
// bytes before passing it on: does a hop take longer after ten thousand hops than after a hundred, and is more memory
// left behind?
//
// The processes are started anew in every round, with the near ends on one core and the far ones on another
// (harness/process_group.hpp). Round 0 warms up.
#include "handles/limits.hpp"
#include "handles/options.hpp"
#include "handles/subjects.hpp"
#include "harness/report.hpp"
#include "harness/rounds.hpp"
#include "harness/steps.hpp"
#include "peers/troupe_process.hpp"

#include <fmt/format.h>

#include <fstream>
#include <iostream>

namespace bench {

namespace {

int measure(const handles_options& told) {
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
    return find_handles_subject(subject)->run_round(told, signals);
  });
  if (outcome.is_stopped)
    return 128 + signals.came();

  const auto rows = outcome.values.rows(handles_peers());
  std::cout << table(rows, handles_peers());
  bool all_well = true;
  for (const auto& [subject, failed] : outcome.failures) {
    std::cout << fmt::format("\n{} {}: {}\n", subject, failed.is_absent ? "not available" : "failed", failed.reason);
    all_well = all_well && failed.is_absent;
  }
  for (const auto& row : rows)
    if (json.is_open())
      json << json_line("handles", row) << '\n';
  if (told.shows_limits) {
    std::cout << '\n';
    all_well = (check_handles_limits(rows, std::cout) || !told.has_to_meet_limits) && all_well;
  }
  return all_well ? 0 : 1;
}

} // namespace

} // namespace bench

int main(int argument_count, char** arguments) {
  std::vector<std::string> subjects;
  for (const auto& each : bench::handles_subjects())
    subjects.push_back(each.name);
  const auto told = bench::read_handles_options(argument_count, arguments, subjects);
  if (!told)
    return told.error();
  if (!told->serve.empty())
    return bench::serve_steps([&](const bench::ready_report& ready) {
      return bench::find_handles_subject(told->serve)->serve(told->number, ready);
    });
  if (!told->drive.empty())
    return bench::drive_steps([&] { return bench::find_handles_subject(told->drive)->connect(told->address); });
  return bench::measure(*told);
}
