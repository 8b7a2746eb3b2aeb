// Four questions about references to large values.
//
// How long does a request take that carries a reference to 256 MiB in a store that both ends share, compared to one
// with a small message? Each reference is to a value of its own, made just before; the actor that answers reads its
// first and last byte. Kinds of request alternate, one at a time.
//
// How long does object_ref::get() take where the bytes are on this host, by their size, compared to finding and pinning
// the same object in the store? Of values that the process made itself, that came from a process with the same store,
// and that were fetched from another host.
//
// How quickly do large values come from another host, compared to what a plain writer and a plain reader do with as
// many bytes, over TCP on the loopback device? Hosts are stores of different names. Memory was used before, at both
// ends and by the very processes, stores and buffers alike: a first use of each page would be most of what is measured.
//
// And a reference that passes around a ring of eight processes, of one host or in pairs on four, where each has the
// bytes before it when it passes it on: does a hop take longer after ten thousand of them than after a hundred, and is
// more left behind?
//
// The processes are started anew in every round, near ends on one core, far ones on another
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
