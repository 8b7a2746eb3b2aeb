#include "healing/options.hpp"

#include <CLI/CLI.hpp>

namespace bench {

namespace {

constexpr int bad_arguments = 2;

} // namespace

std::expected<healing_options, int> read_healing_options(int argument_count, const char* const* arguments,
                                                         const std::vector<std::string>& subjects) {
  healing_options read;
  CLI::App app{"Measures lasting handles, and how soon a supervised worker process is replaced", "healing"};
  app.add_option("--rounds", read.rounds, "Rounds that count, after one warm-up round")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  auto* messages = app.add_option("--messages", read.messages, "Number of messages one way")
                       ->check(CLI::Range(1, 100'000'000))
                       ->capture_default_str();
  auto* requests = app.add_option("--requests", read.requests, "Number of requests, one after the other")
                       ->check(CLI::Range(1, 10'000'000))
                       ->capture_default_str();
  auto* handles = app.add_option("--handles", read.handles, "Number of lasting handles whose memory is measured")
                      ->check(CLI::Range(1, 1'000'000))
                      ->capture_default_str();
  auto* deaths = app.add_option("--deaths", read.deaths, "Number of times that the worker process is killed")
                     ->check(CLI::Range(1, 10'000))
                     ->capture_default_str();
  app.add_option("--subjects", read.subjects, "Only these, separated by commas: " + CLI::detail::join(subjects, ", "))
      ->delimiter(',')
      ->check(CLI::IsMember(subjects));
  app.add_option("--json", read.json_file, "Also writes the results to this file, one JSON object per line");
  bool is_quick = false;
  app.add_flag("--quick", is_quick,
               "One round with few messages, handles and deaths: shows whether it works, not how fast it is");
  app.add_flag("--floors", read.has_to_meet_limits, "Status 1 if a limit is missed");
  std::int64_t deadline = read.deadline.count();
  app.add_option("--deadline", deadline, "Seconds after which a subject is abandoned if it has not finished a step")
      ->check(CLI::Range(1, 3600))
      ->capture_default_str();
  // For processes that the program starts itself.
  app.add_option("--serve", read.serve)->group("")->check(CLI::IsMember(subjects));
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
    if (!*messages)
      read.messages = 1'000;
    if (!*requests)
      read.requests = 100;
    if (!*handles)
      read.handles = 100;
    if (!*deaths)
      read.deaths = 2;
  }
  if (read.subjects.empty())
    read.subjects = subjects;
  return read;
}

} // namespace bench
