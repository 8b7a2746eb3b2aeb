// A supervisor whose workers live in another process: `workers serve` in one terminal, `workers` in another. It spawns
// a worker there, uses it, and spawns another one when the first ends. The server may start later or restart in
// between: the link is then made again.
#include <iostream>
#include <optional>
#include <stdexcept>
#include <string>

#include <troupe/troupe.hpp>

using namespace std::chrono_literals;

/// Squares numbers, and ends when it gets a negative one.
caf::behavior squarer(caf::event_based_actor* self) {
  return {[self](int value) -> caf::result<int> {
    if (value < 0) {
      self->quit(caf::exit_reason::user_shutdown);
      return caf::make_error(caf::sec::invalid_argument);
    }
    return value * value;
  }};
}

struct supervisor_state {
  std::optional<troupe::link> link; // The open link.
  bool is_second = false;           // Whether the second worker is next.
};

/// Lets one worker square 7 and -1, and the next one 8, and then ends.
caf::behavior supervisor(caf::stateful_actor<supervisor_state>* self) {
  const auto ask = [self](const caf::actor& worker, int value) {
    self->request(worker, 5s, value)
        .then(
            [self, value](int square) {
              std::cout << value << " squared is " << square << std::endl;
              if (value == 8)
                self->quit();
            },
            [value](const caf::error& error) {
              std::cout << value << " is refused: " << troupe::text_of(error) << std::endl;
            });
  };
  const auto hire = [self, ask] {
    self->state.link->spawn("workers.squarer")
        .request(self, 5s)
        .then(
            [self, ask](const caf::strong_actor_ptr& spawned) {
              const auto worker = caf::actor_cast<caf::actor>(spawned);
              self->monitor(worker);
              if (self->state.is_second) {
                ask(worker, 8);
              } else {
                ask(worker, 7);
                ask(worker, -1);
              }
            },
            [](const caf::error& error) { std::cout << "no worker: " << troupe::text_of(error) << std::endl; });
  };
  self->set_down_handler([self, hire](const caf::down_msg&) {
    std::cout << "the worker is down" << std::endl;
    self->state.is_second = true;
    if (self->state.link->is_open())
      hire();
  });
  return {[self, hire](const troupe::link_event& event) {
    using kind = troupe::link_event::kind;
    if (event.what == kind::connected) {
      std::cout << "connected to " << event.link->peer_name() << std::endl;
      self->state.link = event.link;
      hire();
    } else if (event.what == kind::given_up) {
      std::cout << "no server: " << event.reason.message() << std::endl;
      self->quit();
    }
  }};
}

int main(int argument_count, char**) try {
  troupe::type_registry types;
  troupe::family_set families;
  troupe::system_config config;
  config.add_actor_type("workers.squarer", squarer); // Peers may spawn this actor type.
  caf::actor_system system{config};
  const auto serves = argument_count > 1;
  troupe::node_options options{.name = serves ? "server" : "client"};
  if (serves) {
    options.listen = {"unix://@workers"};
    options.accepted_links.allow_spawn = true; // Off by default.
  }
  auto node = troupe::node::open(system, types, families, options);
  if (!node)
    throw std::runtime_error(node.error().message());
  if (serves) {
    std::cout << "serving until Enter is pressed" << std::endl;
    std::cin.get();
    return 0;
  }
  auto boss = system.spawn(supervisor);
  auto kept = node->keep_connected("unix://@workers", {.policy = {.attempts_max = 50}, .events = {.listener = boss}});
  if (!kept)
    throw std::runtime_error(kept.error().message());
  caf::scoped_actor self{system};
  self->wait_for(boss);
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
