#include "store/options.hpp"

#include <CLI/CLI.hpp>

namespace bench {

std::expected<store_options, int> read_store_options(int argument_count, const char* const* arguments,
                                                     const std::vector<std::string>& cases) {
  store_options read;
  CLI::App app{"Measures what the store costs, compared with the copying, locking and disk access that it cannot avoid",
               "store"};
  app.add_option("--rounds", read.rounds, "Rounds that count, after one warm-up round")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--cases", read.cases, "Only these, separated by commas: " + CLI::detail::join(cases, ", "))
      ->delimiter(',')
      ->check(CLI::IsMember(cases));
  app.add_option("--spill-directory", read.spill_directory, "A directory on the disk that is measured")
      ->capture_default_str();
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
    read.large_bytes = {1 << 20};
    read.small_puts = 200;
    read.disk_bytes = 8 << 20;
    read.cold_bytes = 8 << 20;
    read.many_objects = 2'000;
  }
  if (read.cases.empty())
    read.cases = cases;
  return read;
}

} // namespace bench
