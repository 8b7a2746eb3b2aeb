#include "serializers/options.hpp"

#include <CLI/CLI.hpp>

namespace bench {

std::expected<serializers_options, int> read_serializers_options(int argument_count, const char* const* arguments,
                                                                 const std::vector<std::string>& subjects) {
  serializers_options read;
  CLI::App app{"Measures what the families cost, compared with what users would write instead", "serializers"};
  app.add_option("--rounds", read.rounds, "Rounds that count, after one warm-up round")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--subjects", read.subjects, "Only these, separated by commas: " + CLI::detail::join(subjects, ", "))
      ->delimiter(',')
      ->check(CLI::IsMember(subjects));
  app.add_option("--json", read.json_file, "Also writes the results to this file, one JSON object per line");
  bool is_quick = false;
  app.add_flag("--quick", is_quick, "One round with little data: shows whether it works, not how fast it is");
  app.add_flag("--floors", read.has_to_meet_limits, "Status 1 if a limit is missed");
  try {
    app.parse(argument_count, arguments);
  } catch (const CLI::ParseError& error) {
    return std::unexpected{app.exit(error) == 0 ? 0 : 2};
  }
  if (is_quick) {
    read.rounds = 1;
    read.shows_limits = read.has_to_meet_limits;
    read.structs = 200;
    read.array_bytes = {1 << 10, 1 << 20};
  }
  if (read.subjects.empty())
    read.subjects = subjects;
  return read;
}

} // namespace bench
