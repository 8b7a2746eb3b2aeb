#include "compression/options.hpp"

#include <CLI/CLI.hpp>

namespace bench {

std::expected<compression_options, int> read_compression_options(int argument_count, const char* const* arguments,
                                                                 const std::vector<std::string>& subjects,
                                                                 const std::vector<std::string>& kinds) {
  compression_options read;
  CLI::App app{"Measures what compression costs and saves, by kind of data", "compression"};
  app.add_option("--rounds", read.rounds, "Rounds that count, after one warm-up round")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--bytes", read.frame_bytes, "Bytes of the frame that is compressed")
      ->check(CLI::Range(std::size_t{10'000}, std::size_t{1'000'000'000}))
      ->capture_default_str();
  app.add_option("--subjects", read.subjects, "Only these, separated by commas: " + CLI::detail::join(subjects, ", "))
      ->delimiter(',')
      ->check(CLI::IsMember(subjects));
  app.add_option("--kinds", read.kinds, "Only this data, separated by commas: " + CLI::detail::join(kinds, ", "))
      ->delimiter(',')
      ->check(CLI::IsMember(kinds));
  app.add_option("--json", read.json_file, "Also writes the results to this file, one JSON object per line");
  bool is_quick = false;
  app.add_flag("--quick", is_quick, "One round with little data: shows whether it works, not how fast it is");
  try {
    app.parse(argument_count, arguments);
  } catch (const CLI::ParseError& error) {
    return std::unexpected{app.exit(error) == 0 ? 0 : 2};
  }
  if (is_quick) {
    read.rounds = 1;
    read.repetitions = 1;
    read.frame_bytes = 100'000;
  }
  if (read.subjects.empty())
    read.subjects = subjects;
  if (read.kinds.empty())
    read.kinds = kinds;
  return read;
}

} // namespace bench
