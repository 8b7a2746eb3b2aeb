#include "payloads/options.hpp"

#include <CLI/CLI.hpp>

namespace bench {

namespace {

constexpr int bad_arguments = 2;

} // namespace

std::expected<payload_options, int> read_payload_options(int argument_count, const char* const* arguments,
                                                         const std::vector<std::string>& subjects) {
  payload_options read;
  CLI::App app{"Measures large values from one process to another, compared with the alternatives", "payloads"};
  app.add_option("--rounds", read.rounds, "Rounds that count, after one warm-up round")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  auto* largest =
      app.add_option("--bytes", read.largest_bytes, "Bytes of the largest value; sizes above it are left out")
          ->check(CLI::Range(64 << 10, 256 << 20))
          ->capture_default_str();
  auto* each = app.add_option("--bytes-each", read.bytes_each, "Approximate bytes that pass for each size in a round")
                   ->check(CLI::Range(std::size_t{1}, std::size_t{64} << 30))
                   ->capture_default_str();
  app.add_option("--subjects", read.subjects, "Only these, separated by commas: " + CLI::detail::join(subjects, ", "))
      ->delimiter(',')
      ->check(CLI::IsMember(subjects));
  app.add_option("--json", read.json_file, "Also writes the results to this file, one JSON object per line");
  bool is_quick = false;
  app.add_flag("--quick", is_quick,
               "One round, no value above 1 MiB: shows whether it works, not how fast it is; a test runs this");
  std::int64_t deadline = read.deadline.count();
  app.add_option("--deadline", deadline, "Seconds after which a subject is abandoned if it has not finished a size")
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
    if (!*largest)
      read.largest_bytes = 1 << 20;
    if (!*each)
      read.bytes_each = 1 << 20;
  }
  if (read.subjects.empty())
    read.subjects = subjects;
  return read;
}

} // namespace bench
