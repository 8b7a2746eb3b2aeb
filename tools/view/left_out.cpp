// `troupe view` where the component troupe::gateway is not built.
#include "view/command.hpp"

#include <CLI/CLI.hpp>

#include <ostream>

namespace troupe::tools {

void add_view_command(CLI::App& app, std::ostream&, std::ostream& err, int& status) {
  auto* const command = app.add_subcommand("view", "Serves a web page about nodes. This build was made without it");
  command->prefix_command(); // Whatever follows, the reason is the same.
  command->callback([&err, &status] {
    err << "troupe: this command was built without the gateway, because Boost 1.74 or newer was missing: install "
           "libboost-dev, and build Troupe again\n";
    status = 2;
  });
}

} // namespace troupe::tools
