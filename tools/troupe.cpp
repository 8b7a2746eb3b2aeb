// The `troupe` command: adds all subcommands and runs the requested one.
#include <CLI/CLI.hpp>

#include "bench/command.hpp"
#include "cluster/command.hpp"
#include "contract/command.hpp"
#include "help/command.hpp"
#include "memory/command.hpp"
#include "nodes/command.hpp"
#include "store/command.hpp"
#include "tape/command.hpp"
#include "tape/recording.hpp"
#include "tape/replaying.hpp"
#include "text.hpp"
#include "top/command.hpp"
#include "view/command.hpp"

#include <troupe/base/version.hpp>

#include <algorithm>
#include <iostream>
#include <string>
#include <system_error>

namespace {

/// Reports an unknown command by name; CLI11 would only say that a command is missing.
[[nodiscard]] bool knows(const CLI::App& app, const std::string& first) {
  const auto commands = app.get_subcommands([](const CLI::App*) { return true; });
  if (first.starts_with('-')
      || std::ranges::any_of(commands, [&](const auto* each) { return each->get_name() == first; }))
    return true;
  auto text = "troupe: there is no command \"" + first + "\"; there are";
  for (const auto* const each : commands)
    text += ' ' + each->get_name();
  std::cerr << troupe::tools::printable(text) << "; run: troupe --help\n";
  return false;
}

} // namespace

int main(int argument_count, char** arguments) {
  CLI::App app{
      "Inspects what Troupe's programs share on this host, cleans up after killed programs, shows and examines "
      "clusters, compares versions of a program as their peers see them, records links, shows recordings and sends "
      "them "
      "again, and measures throughput and latency.",
      "troupe"};
  app.require_subcommand(1);
  app.set_version_flag("--version", std::string{"troupe "} + TROUPE_VERSION);
  auto status = 0;
  troupe::tools::add_bench_command(app, std::cout, std::cerr, status);
  troupe::tools::add_cluster_command(app, std::cout, std::cerr, status);
  troupe::tools::add_contract_command(app, std::cout, std::cerr, status);
  troupe::tools::add_links_command(app, std::cout, std::cerr, status);
  troupe::tools::add_memory_command(app, std::cout, std::cerr, status);
  troupe::tools::add_ping_command(app, std::cout, std::cerr, status);
  troupe::tools::add_record_command(app, std::cout, std::cerr, status);
  troupe::tools::add_replay_command(app, std::cout, std::cerr, status);
  troupe::tools::add_store_command(app, std::cout, std::cerr, status);
  troupe::tools::add_tape_command(app, std::cout, std::cerr, status);
  troupe::tools::add_top_command(app, std::cout, std::cerr, status);
  troupe::tools::add_types_command(app, std::cout, std::cerr, status);
  troupe::tools::add_view_command(app, std::cout, std::cerr, status);
  troupe::tools::add_help_commands(app, std::cout);
  if (argument_count > 1 && !knows(app, arguments[1]))
    return 2;
  try {
    app.parse(argument_count, arguments);
  } catch (const CLI::ParseError& asked) {
    return app.exit(asked) == 0 ? 0 : 2;
  } catch (const std::system_error& failure) { // For example, a thread cannot be started.
    std::cerr << "troupe: the system refused a request: " << failure.what() << '\n';
    return 1;
  }
  std::cout.flush();
  if (std::cout)
    return status;
  std::cerr << "troupe: standard output cannot be written\n"; // Output that was not written is a failure.
  return 1;
}
