// A kitchen that programs in any language can use: actors that stir, ring and ask back, and a table of numbers.
#include <iostream>
#include <stdexcept>

#include <troupe/framework/gateway/gateway.hpp>
#include <troupe/troupe.hpp>

using namespace std::chrono_literals;
using stir_atom = caf::atom_constant<caf::atom("stir")>;
using ring_atom = caf::atom_constant<caf::atom("ring")>;
using tea_atom = caf::atom_constant<caf::atom("tea")>;

struct spoon {
  std::string metal;
  std::uint32_t turns = 1;
};
TROUPE_DESCRIBE(spoon, metal, turns)

// The schema describes the messages of a typed actor.
using cup_actor = caf::typed_actor<caf::replies_to<stir_atom, spoon>::with<std::string>>;

cup_actor::behavior_type cup() {
  return {[](stir_atom, const spoon& with) -> caf::result<std::string> {
    if (with.metal.empty())
      return troupe::to_caf_error({troupe::node_errc::bad_option, "a spoon needs a metal"});
    return "stirred " + std::to_string(with.turns) + " times by " + with.metal;
  }};
}

/// Rings three times for each client that asks for it. The handle of a WebSocket is an ordinary handle.
caf::behavior bell(caf::event_based_actor* self) {
  return {[self](ring_atom) {
    const auto guest = caf::actor_cast<caf::actor>(self->current_sender());
    for (std::uint32_t i = 1; i <= 3; ++i)
      self->send(guest, "ring " + std::to_string(i));
  }};
}

/// Asks a guest before it brings the tea. A client answers requests as an actor does.
caf::behavior waiter(caf::event_based_actor* self) {
  return {[self](tea_atom) {
    const auto guest = caf::actor_cast<caf::actor>(self->current_sender()); // The promise takes the sender over.
    auto tea = self->make_response_promise<std::string>();
    self->request(guest, 10s, std::string("milk or lemon?"))
        .then([tea](const std::string& with) mutable { tea.deliver("tea with " + with); },
              [tea](caf::error& why) mutable { tea.deliver("plain tea: " + troupe::text_of(why)); });
    return tea;
  }};
}

int main(int argument_count, char** arguments) try { // gateway TOKEN-FILE [ADDRESS [CERTIFICATE KEY]]
  if (argument_count < 2 || argument_count == 4 || argument_count > 5)
    throw std::runtime_error("usage: gateway TOKEN-FILE [ADDRESS [CERTIFICATE KEY]]");
  troupe::type_registry types;
  types.add<spoon>("kitchen.spoon");
  troupe::family_set families;
  troupe::system_config config;
  caf::actor_system system{config};
  auto node = troupe::value_or_throw(troupe::node::open(system, types, families, {.name = "kitchen", .store = {}}));

  auto gateway = troupe::value_or_throw(
      troupe::gateway::open(node, {.address = argument_count > 2 ? arguments[2] : "127.0.0.1:8080",
                                   .token_file = arguments[1],
                                   .certificate_file = argument_count > 4 ? arguments[3] : "",
                                   .key_file = argument_count > 4 ? arguments[4] : ""}));
  troupe::value_or_throw(gateway.expose("cup", system.spawn(cup), {.description = "stirs with a spoon"}));
  troupe::value_or_throw(gateway.expose("bell", system.spawn(bell), {.description = "rings three times"}));
  troupe::value_or_throw(gateway.expose("waiter", system.spawn(waiter), {.description = "asks before it brings tea"}));
  const troupe::array<double> degrees({20.5, 21, 21.5, 60, 70.25, 80}, {2, 3});
  troupe::value_or_throw(gateway.expose_object("degrees", troupe::value_or_throw(node.put(degrees))));

  std::cout << "serving " << gateway.url() << " until Enter is pressed" << std::endl;
  std::cin.get();
  if (auto drained = gateway.drain(std::chrono::seconds(5)); !drained) // Requests under way are answered first.
    std::cerr << drained.error().message() << '\n';
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
