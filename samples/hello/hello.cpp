// A large array is summed in another process without being copied: `hello serve` in one terminal, `hello` in another.
#include <iostream>
#include <numeric>
#include <stdexcept>

#include <troupe/troupe.hpp>

using doubles = troupe::array<double>;

int main(int argument_count, char**) try {
  troupe::type_registry types; // The types that may travel, by their names on the wire.
  types.add<troupe::object_ref<doubles>>("hello.doubles");
  troupe::family_set families; // typed, msgpack and json
  troupe::system_config config;
  caf::actor_system system{config};

  if (argument_count > 1) { // hello serve
    auto adder = system.spawn([]() -> caf::behavior {
      return {[](const troupe::object_ref<doubles>& ref) {
        auto values = troupe::value_or_throw(ref.get()); // A read-only view of the shared memory: nothing is copied.
        return std::accumulate(values.begin(), values.end(), 0.0);
      }};
    });
    auto node = troupe::value_or_throw(troupe::node::open(
        system, types, families, {.name = "server", .listen = {"unix://@hello"}, .publish = {{"adder", adder}}}));
    std::cout << "serving until Enter is pressed" << std::endl;
    std::cin.get();
  } else {
    auto node = troupe::value_or_throw(troupe::node::open(system, types, families, {.name = "client"}));
    auto link = troupe::value_or_throw(
        node.connect("unix://@hello", {.serializers = {"msgpack"}})); // This link's own families.
    auto adder = troupe::value_or_throw(link.find("adder"));          // An ordinary caf::actor.
    auto numbers = troupe::value_or_throw(
        node.put(doubles(std::vector<double>(10'000'000, 0.5)))); // 80 MB, into the host's store.
    caf::scoped_actor self{system};
    self->request(adder, std::chrono::seconds(5), numbers)
        .receive([](double sum) { std::cout << "the sum is " << sum << '\n'; },
                 [](const caf::error& error) { throw std::runtime_error(troupe::text_of(error)); });
    auto [by_socket, by_handle] = std::pair{link.stats().socket_bytes_sent, link.stats().handle_bytes_sent};
    std::cout << by_socket << " bytes through the socket, " << by_handle << " bytes by handle\n";
  }
} catch (const std::exception& error) { // The node has already closed its links and detached from the store.
  std::cerr << error.what() << '\n';
  return 1;
}
