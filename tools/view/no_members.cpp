// Stands for the members of a cluster where the component troupe::cluster is not built.
#include "view/members.hpp"

#include <CLI/CLI.hpp>

namespace troupe::tools {

void add_directory_choice(CLI::App& command, directory_choice& by) {
  command.add_option("--directory", by.address, "The directory of a cluster. This build was made without clusters")
      ->option_text("ADDRESS");
}

std::expected<std::shared_ptr<members>, std::string> members::open(const directory_choice&) {
  return std::unexpected{
      "this command was built without clusters, because libcurl, nlohmann-json, SQLite or c-ares was "
      "missing: install their development packages, and build Troupe again"};
}

} // namespace troupe::tools
