#include "store/options.hpp"

#include <CLI/CLI.hpp>

namespace bench {

std::expected<store_options, int> read_store_options(int argument_count, const char* const* arguments,
                                                     const std::vector<std::string>& cases) {
  store_options read;
  CLI::App app{"What the store costs beside what it cannot do without: copying, locking, the disk", "store"};
  app.add_option("--rounds", read.rounds, "Rounds that count, after one that warms up")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--cases", read.cases, "Only these, separated by commas: " + CLI::detail::join(cases, ", "))
      ->delimiter(',')
      ->check(CLI::IsMember(cases));
  app.add_option("--spill-directory", read.spill_directory, "Where the disk is that is measured")
      ->capture_default_str();
  app.add_option("--json", read.json_file, "Write the results to this file too, an object on each line");
  bool is_quick = false;
  app.add_flag("--quick", is_quick, "One round of little: whether it works, not how fast it is");
  app.add_flag("--floors", read.has_to_meet_limits, "Status 1 when a limit is missed");
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
