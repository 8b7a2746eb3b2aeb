// Configures nodes and links by a file and the command line. The link is made again when its peer returns.
#include <iostream>
#include <optional>
#include <stdexcept>

#include <troupe/troupe.hpp>

using namespace std::chrono_literals;

struct options : troupe::system_config {
  options() { opt_group{custom_options_, "global"}.add(peer, "peer", "address of the node to greet; empty: serve"); }
  std::string peer;
};

int serve() {
  std::cout << "serving until Enter is pressed" << std::endl;
  std::cin.get();
  return 0;
}

int greet(caf::actor_system& system, troupe::node& node, const std::string& peer) {
  caf::scoped_actor self{system};
  // The other options come from the entry for this address.
  auto kept = node.keep_connected(peer, {.events = {.listener = self}});
  if (!kept)
    throw std::runtime_error(kept.error().message());
  std::optional<troupe::link> connected;
  while (!connected && kept->is_active())
    self->receive([&](const troupe::link_event& event) {
      connected = event.link;
      if (!connected)
        std::cerr << event.address << ": " << event.reason.message() << std::endl;
    });
  if (!connected)
    return 1;
  auto& link = *connected;
  auto greeter = link.find("greeter");
  if (!greeter)
    throw std::runtime_error(greeter.error().message());
  self->request(*greeter, 5s, link.peer_name())
      .receive([&](const std::string& answer) { std::cout << link.serializers().front() << ": " << answer << '\n'; },
               [](const caf::error& error) { throw std::runtime_error(troupe::text_of(error)); });
  return 0;
}

int main(int argument_count, char** arguments) try {
  options config;
  if (auto error = config.parse(argument_count, arguments, "configured.ini"))
    throw std::runtime_error(troupe::text_of(error)); // The text names file and line.
  if (config.cli_helptext_printed)
    return 0;
  troupe::type_registry types;
  troupe::family_set families;
  caf::actor_system system{config};
  std::vector<troupe::publication> published; // Actors cannot come from a file.
  if (config.peer.empty())
    published = {{"greeter", [&] {
                    return system.spawn([]() -> caf::behavior {
                      return {[](const std::string& name) { return "good day, " + name; }};
                    });
                  }}};
  // The other options come from the entry troupe.node of the file and the command line.
  auto node = troupe::node::open(system, types, families, {.publish = std::move(published)});
  if (!node)
    throw std::runtime_error(node.error().message());
  return config.peer.empty() ? serve() : greet(system, *node, config.peer);
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
