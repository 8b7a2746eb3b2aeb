// `troupe cluster` where the component troupe::cluster is not built.
#include "cluster/command.hpp"

#include <CLI/CLI.hpp>

#include <ostream>

namespace troupe::tools {

void add_cluster_command(CLI::App& app, std::ostream&, std::ostream& err, int& status) {
  auto* const command = app.add_subcommand("cluster", "Inspects clusters. This build was made without it");
  command->prefix_command(); // Whatever follows, the reason is the same.
  command->callback([&err, &status] {
    err << "troupe: this command was built without clusters, because libcurl, nlohmann-json, SQLite or c-ares was "
           "missing: install their development packages, and build Troupe again\n";
    status = 2;
  });
}

} // namespace troupe::tools
