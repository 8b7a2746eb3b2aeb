// Compares Troupe with alternatives at small messages (throughput) and large values (payloads). Runs the two benchmarks
// one after the other, each with its own interleaved rounds, and writes the results into a folder.
#include "compare/options.hpp"
#include "compare/writing.hpp"
#include "harness/plot.hpp"
#include "harness/stop_signals.hpp"
#include "payloads/subjects.hpp"
#include "peers/all.hpp"

#include <troupe/processes/process.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <tuple>

#include <poll.h>
#include <stdlib.h>

namespace bench {

namespace {

constexpr int bad_place = 2;

/// A folder that the destructor removes.
class temporary_folder {
public:
  temporary_folder() {
    auto name = (std::filesystem::temp_directory_path() / "troupe-bench-compare-XXXXXX").string();
    if (::mkdtemp(name.data()) != nullptr)
      path_ = name;
  }
  temporary_folder(const temporary_folder&) = delete;
  temporary_folder& operator=(const temporary_folder&) = delete;
  ~temporary_folder() {
    std::error_code ignored;
    if (!path_.empty())
      std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; } // Empty if it could not be made.

private:
  std::filesystem::path path_;
};

using words = std::vector<std::string>;

words subjects_with_small_messages() {
  words names{"troupe-unix", "troupe-shm", "troupe-shm-polling", "troupe-tcp"};
  for (const auto& peer : all_peers())
    names.push_back(peer.name);
  names.emplace_back("raw-asio-unix");
  return names;
}

words subjects_with_large_values() {
  words names;
  for (const auto& each : payload_subjects())
    names.push_back(each.name);
  return names;
}

/// Those of `names` that were requested, as "A,B"; empty if none was.
std::string chosen(const compare_options& told, const words& names) {
  std::string text;
  for (const auto& name : names)
    if (told.subjects.empty() || std::ranges::find(told.subjects, name) != told.subjects.end())
      text += (text.empty() ? "" : ",") + name;
  return text;
}

words small_messages(const compare_options& told) {
  words arguments{"--cases", "one-way,at-rest,echo,round-trip-2-cores,round-trip-1-core"};
  const auto extra = told.how_much == extent::tiny    ? words{"--quick"}
                     : told.how_much == extent::quick ? words{"--rounds", "2", "--seconds", "0.15"}
                                                      : words{"--rounds", std::to_string(told.rounds)};
  arguments.insert(arguments.end(), extra.begin(), extra.end());
  return arguments;
}

words large_values(const compare_options& told) {
  switch (told.how_much) {
  case extent::tiny:
    return {"--quick"};
  case extent::quick:
    return {"--rounds", "2", "--bytes", std::to_string(16 << 20), "--bytes-each", std::to_string(64 << 20)};
  case extent::full:
    break;
  }
  // On a busy machine, the slowest subject may take a minute for 256 MiB.
  return {"--rounds", std::to_string(told.rounds), "--deadline", "300"};
}

std::string extent_of(const compare_options& told) {
  switch (told.how_much) {
  case extent::tiny:
    return "one tiny round, which does not show how fast anything is";
  case extent::quick:
    return "two short rounds (`--quick`)";
  case extent::full:
    break;
  }
  return fmt::format("{} rounds", told.rounds);
}

/// Runs to completion a benchmark that lies in this program's folder. Fails with this program's exit status.
std::expected<benchmark_results, int> run(const std::string& benchmark, words arguments,
                                          const std::filesystem::path& folder, stop_signals& signals) {
  const auto json = folder / (benchmark + ".json");
  const auto program = std::filesystem::read_symlink("/proc/self/exe").parent_path() / benchmark;
  arguments.insert(arguments.begin(), benchmark);
  arguments.insert(arguments.end(), {"--json", json.string()});
  auto running = troupe::processes::process::start({.program = program, .words = arguments, .parting_signal = SIGTERM});
  if (!running) {
    std::cerr << running.error() << '\n';
    return std::unexpected{1};
  }
  for (constexpr int look_every_ms = 50; running->runs();) {
    pollfd stopped{signals.fd(), POLLIN, 0};
    ::poll(&stopped, 1, look_every_ms);
    if (signals.came() == 0)
      continue;
    running->signal(SIGTERM); // The terminal may have sent it the same signal.
    static_cast<void>(running->wait());
    return std::unexpected{128 + signals.came()};
  }
  const auto how = running->wait();
  constexpr int a_subject_failed = 1;
  if (how.status() != 0 && how.status() != a_subject_failed) {
    std::cerr << benchmark << ' ' << text_of(how) << '\n';
    return std::unexpected{how.code > 128 ? how.code : 1};
  }
  std::ifstream lines{json};
  auto results = read_results(benchmark, lines);
  if (!results) {
    std::cerr << results.error() << '\n';
    return std::unexpected{1};
  }
  return *std::move(results);
}

/// Returns the exit status.
int compare(const compare_options& told) {
  stop_signals signals;
  const temporary_folder folder;
  if (folder.path().empty()) {
    std::cerr << "cannot make a folder in " << std::filesystem::temp_directory_path() << '\n';
    return bad_place;
  }
  if (const auto possible = can_draw(); !possible) { // Checked before the long measurements.
    std::cerr << possible.error() << '\n';
    return bad_place;
  }
  const processor_watch watch;
  comparison made{.date = date_of(std::chrono::system_clock::now()),
                  .machine = facts_of_machine(),
                  .taken = {},
                  .extent = extent_of(told),
                  .benchmarks = {}};
  const std::tuple<const char*, words, words> benchmarks[] = {
      {"throughput", subjects_with_small_messages(), small_messages(told)},
      {"payloads", subjects_with_large_values(), large_values(told)}};
  for (auto [benchmark, names, arguments] : benchmarks) {
    const auto subjects = chosen(told, names);
    if (subjects.empty())
      continue;
    arguments.insert(arguments.end(), {"--subjects", subjects});
    auto results = run(benchmark, arguments, folder.path(), signals);
    if (!results)
      return results.error();
    made.benchmarks.push_back(*std::move(results));
    std::cout << '\n';
  }
  made.taken = watch.taken();
  if (const auto written = write_files(made, told.folder); !written) {
    std::cerr << written.error() << '\n';
    return bad_place;
  }
  std::cout << "written to " << told.folder.string() << '\n';
  bool is_any_absent = false;
  bool has_any_failed = false;
  for (const auto& each : made.benchmarks)
    for (const auto& [subject, why] : each.missing)
      (why.is_absent ? is_any_absent : has_any_failed) = true;
  if (is_any_absent)
    std::cout << "rows are missing; cmake/install-dependencies peers installs the packages of all peers\n";
  return has_any_failed ? 1 : 0;
}

} // namespace

} // namespace bench

int main(int argument_count, char** arguments) {
  auto subjects = bench::subjects_with_large_values();
  for (auto& name : bench::subjects_with_small_messages())
    if (std::ranges::find(subjects, name) == subjects.end())
      subjects.push_back(std::move(name));
  const auto told = bench::read_compare_options(argument_count, arguments, subjects);
  return told ? bench::compare(*told) : told.error();
}
