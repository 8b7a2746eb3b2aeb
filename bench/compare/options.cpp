#include "compare/options.hpp"

#include <CLI/CLI.hpp>

namespace bench {

namespace {

constexpr int bad_arguments = 2;

} // namespace

std::expected<compare_options, int> read_compare_options(int argument_count, const char* const* arguments,
                                                         const std::vector<std::string>& subjects) {
  compare_options read;
  CLI::App app{"Compares Troupe with the alternatives, and writes tables, plots and data into a folder", "compare"};
  auto folder = read.folder.string();
  app.add_option("--folder", folder, "The folder of the results; created if it does not exist")
      ->take_last()
      ->capture_default_str();
  auto* rounds = app.add_option("--rounds", read.rounds, "Rounds that count, after one warm-up round")
                     ->check(CLI::Range(1, 1000))
                     ->capture_default_str();
  app.add_option("--subjects", read.subjects, "Only these, separated by commas: " + CLI::detail::join(subjects, ", "))
      ->delimiter(',')
      ->check(CLI::IsMember(subjects));
  bool is_quick = false;
  bool is_tiny = false;
  auto* quick =
      app.add_flag("--quick", is_quick, "Fewer and shorter rounds, no value above 16 MiB; takes four minutes");
  app.add_flag("--tiny", is_tiny, "Shows whether it works, not how fast it is; a test runs this")
      ->excludes(quick)
      ->excludes(rounds);
  quick->excludes(rounds);
  try {
    app.parse(argument_count, arguments);
  } catch (const CLI::ParseError& error) {
    return std::unexpected{app.exit(error) == 0 ? 0 : bad_arguments};
  }
  read.folder = folder;
  read.how_much = is_tiny ? extent::tiny : is_quick ? extent::quick : extent::full;
  return read;
}

} // namespace bench
