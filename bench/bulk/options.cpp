#include "bulk/options.hpp"

#include <CLI/CLI.hpp>

namespace bench {

namespace {

constexpr int bad_arguments = 2;

} // namespace

std::expected<bulk_options, int> read_bulk_options(int argument_count, const char* const* arguments,
                                                   const std::vector<std::string>& subjects) {
  bulk_options read;
  CLI::App app{"Measures large messages between two actors: beside small messages, compared with a plain socket, and "
               "through a store",
               "bulk"};
  app.add_option("--rounds", read.rounds, "Rounds that count, after one warm-up round")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  auto* messages = app.add_option("--bulk-messages", read.bulk_messages, "Number of large messages of 16 MiB")
                       ->check(CLI::Range(1, 100'000))
                       ->capture_default_str();
  auto* round_trips = app.add_option("--round-trips", read.round_trips, "Number of round trips on an idle link")
                          ->check(CLI::Range(1, 10'000'000))
                          ->capture_default_str();
  auto* store_bytes =
      app.add_option("--store-bytes", read.store_bytes, "Bytes of the large value that is sent through the store")
          ->check(CLI::Range(64 << 10, 1 << 30))
          ->capture_default_str();
  app.add_option("--subjects", read.subjects, "Only these, separated by commas: " + CLI::detail::join(subjects, ", "))
      ->delimiter(',')
      ->check(CLI::IsMember(subjects));
  app.add_option("--json", read.json_file, "Also writes the results to this file, one JSON object per line");
  bool is_quick = false;
  app.add_flag(
      "--quick", is_quick,
      "One round with 4 large messages, and 1 MiB through the store: shows whether it works, not how fast it is");
  app.add_flag("--floors", read.has_to_meet_limits, "Status 1 if the limit is missed");
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
      read.bulk_messages = 4;
    if (!*round_trips)
      read.round_trips = 100;
    if (!*store_bytes)
      read.store_bytes = 1 << 20;
  }
  if (read.subjects.empty())
    read.subjects = subjects;
  return read;
}

} // namespace bench
