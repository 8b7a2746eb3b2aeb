#include "handles/options.hpp"

#include <CLI/CLI.hpp>

namespace bench {

namespace {

constexpr int bad_arguments = 2;

} // namespace

std::expected<handles_options, int> read_handles_options(int argument_count, const char* const* arguments,
                                                         const std::vector<std::string>& subjects) {
  handles_options read;
  CLI::App app{"Measures references to large values: sending, reading, fetching from another host, and passing on",
               "handles"};
  app.add_option("--rounds", read.rounds, "Rounds that count, after one warm-up round")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  auto* large_bytes = app.add_option("--bytes", read.large_bytes, "Bytes of the largest value")
                          ->check(CLI::Range(1 << 20, 1 << 30))
                          ->capture_default_str();
  auto* requests = app.add_option("--requests", read.requests, "Number of requests of each kind")
                       ->check(CLI::Range(1, 1'000'000))
                       ->capture_default_str();
  auto* gets = app.add_option("--gets", read.gets, "Number of calls of get() in each run")
                   ->check(CLI::Range(1, 1'000'000))
                   ->capture_default_str();
  auto* pulls =
      app.add_option("--pulls", read.pulls, "Number of values of each size that are fetched from another host")
          ->check(CLI::Range(1, 10'000))
          ->capture_default_str();
  auto* hops = app.add_option("--hops", read.hops, "Number of hops of a reference around a ring")
                   ->check(CLI::Range(400, 10'000'000))
                   ->capture_default_str();
  app.add_option("--subjects", read.subjects, "Only these, separated by commas: " + CLI::detail::join(subjects, ", "))
      ->delimiter(',')
      ->check(CLI::IsMember(subjects));
  app.add_option("--json", read.json_file, "Also writes the results to this file, one JSON object per line");
  bool is_quick = false;
  app.add_flag("--quick", is_quick,
               "One round with values of at most 1 MiB, and 800 hops: shows whether it works, not how fast it is");
  app.add_flag("--floors", read.has_to_meet_limits, "Status 1 if a limit is missed");
  std::int64_t deadline = read.deadline.count();
  app.add_option("--deadline", deadline, "Seconds after which a subject is abandoned if it has not finished a step")
      ->check(CLI::Range(1, 3600))
      ->capture_default_str();
  // For processes that the program starts itself.
  app.add_option("--serve", read.serve)->group("")->check(CLI::IsMember(subjects));
  app.add_option("--number", read.number)->group("");
  app.add_option("--drive", read.drive)->group("")->check(CLI::IsMember(subjects));
  app.add_option("--address", read.address)->group("");
  try {
    app.parse(argument_count, arguments);
  } catch (const CLI::ParseError& error) {
    return std::unexpected{app.exit(error) == 0 ? 0 : bad_arguments};
  }
  read.deadline = std::chrono::seconds{deadline};
  if (is_quick) {
    read.rounds = 1;
    read.shows_limits = read.has_to_meet_limits;
    if (!*large_bytes)
      read.large_bytes = 1 << 20;
    if (!*requests)
      read.requests = 10;
    if (!*gets)
      read.gets = 10;
    if (!*pulls)
      read.pulls = 1;
    if (!*hops)
      read.hops = 800;
  }
  if (read.subjects.empty())
    read.subjects = subjects;
  return read;
}

} // namespace bench
