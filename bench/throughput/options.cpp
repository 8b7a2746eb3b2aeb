#include "throughput/options.hpp"

#include "throughput/questions.hpp"

#include <CLI/CLI.hpp>

namespace bench {

namespace {

constexpr int bad_arguments = 2;

} // namespace

std::expected<options, int> read_options(int argument_count, const char* const* arguments) {
  options read;
  std::vector<std::string> subjects;
  std::vector<std::string> cases;
  for (const auto& each : all_questions()) {
    for (const auto& one : each.subjects)
      subjects.push_back(one.who.name);
    for (const auto& one : each.cases)
      cases.emplace_back(one.name);
  }
  CLI::App app{"Measures small messages between actors, compared with the alternatives", "throughput"};
  app.add_option("--rounds", read.rounds,
                 "Rounds that count, after one warm-up round; default 5; for local actors, counting and logging 15")
      ->check(CLI::Range(1, 1000));
  auto* duration = app.add_option("--seconds", read.seconds, "Seconds of each case of each subject in a round")
                       ->check(CLI::Range(0.001, 60.0))
                       ->capture_default_str();
  auto* messages = app.add_option("--messages", read.messages, "Number of messages, instead of a time")
                       ->check(CLI::Range(1, 1'000'000'000))
                       ->excludes(duration);
  app.add_option("--subjects", read.subjects,
                 "Only these, separated by commas; the others in this order: " + CLI::detail::join(subjects, ", "))
      ->delimiter(',')
      ->check(CLI::IsMember(subjects));
  app.add_option("--cases", read.cases, "Only these, separated by commas: " + CLI::detail::join(cases, ", "))
      ->delimiter(',')
      ->check(CLI::IsMember(cases));
  app.add_option("--json", read.json_file, "Also writes the results to this file, one JSON object per line");
  bool is_quick = false;
  app.add_flag("--quick", is_quick, "One round of 2,000 messages: shows whether it works, not how fast it is");
  app.add_flag("--floors", read.check_floors, "Checks the floors; status 1 if one is missed");
  std::int64_t deadline = read.deadline.count();
  app.add_option("--deadline", deadline, "Seconds after which a subject is abandoned if it has not finished a case")
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
    if (!*messages)
      read.messages = 2'000;
  }
  if (read.subjects.empty())
    read.subjects = subjects;
  if (read.cases.empty())
    read.cases = cases;
  return read;
}

} // namespace bench
