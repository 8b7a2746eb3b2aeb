// A member of a cluster for the tests of `troupe view`: view_member NAME DIRECTORY LISTEN [reports]. It says "ready",
// or why it could not join, and ends with its input.
#include <iostream>
#include <string>
#include <vector>

#include <troupe/framework/cluster/cluster.hpp>
#include <troupe/troupe.hpp>

int main(int argument_count, char** arguments) try {
  const std::vector<std::string> words(arguments + 1, arguments + argument_count);
  troupe::type_registry types;
  troupe::family_set families;
  troupe::system_config config;
  caf::actor_system system{config};
  troupe::node_options options{.name = words.at(0), .listen = {words.at(2)}, .store = std::nullopt};
  options.accepted_links.credentials.secret = "0123456789abcdef0123456789abcdef";
  options.accepted_links.allow_report = words.size() > 3;
  auto node = value_or_throw(troupe::node::open(system, types, families, std::move(options)));
  auto cluster = value_or_throw(troupe::cluster::join(node, {.directory = words.at(1)}));
  std::cout << "ready" << std::endl;
  for (std::string line; std::getline(std::cin, line);)
    ;
  return 0;
} catch (const std::exception& failure) {
  std::cout << failure.what() << std::endl;
  return 1;
}
