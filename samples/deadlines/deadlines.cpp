// An oven that bakes no cake for which nobody waits any more: `deadlines serve` in one terminal, `deadlines` in
// another.
#include <iostream>
#include <thread>

#include <troupe/framework/deadline.hpp>
#include <troupe/troupe.hpp>

using namespace std::chrono_literals;

using bake_atom = caf::atom_constant<caf::atom("bake")>;
using count_atom = caf::atom_constant<caf::atom("count")>;

/// Bakes one cake after the other.
caf::behavior oven(caf::stateful_actor<int>* self) {
  constexpr auto baking_time = 500ms;
  return {[=](bake_atom, int number) -> caf::result<int> {
            // A request that is over does not get here. One that cannot be served in time is refused.
            if (const auto left = troupe::deadline(self); left && *left < baking_time)
              return caf::make_error(caf::sec::request_timeout);
            std::this_thread::sleep_for(baking_time);
            ++self->state;
            return number;
          },
          [=](count_atom) { return self->state; }};
}

/// Takes orders, and asks the oven for what is left of each customer's patience.
caf::behavior baker(caf::event_based_actor* self, const caf::actor& oven) {
  return {[=](bake_atom, int number) {
    auto cake = self->make_response_promise<int>();
    troupe::request(self, oven, troupe::inherit_deadline, bake_atom::value, number)
        .then([cake](int baked) mutable { cake.deliver(baked); },
              [cake](caf::error& why) mutable { cake.deliver(std::move(why)); });
    return cake;
  }};
}

/// Orders six cakes at once.
void customer(caf::event_based_actor* self, const caf::actor& baker) {
  for (int number = 1; number <= 6; ++number)
    troupe::request(self, baker, 1750ms, bake_atom::value, number)
        .then([=](int) { std::cout << "cake " << number << " is ready\n"; },
              [=](const caf::error&) { std::cout << "cake " << number << " is not ready in time\n"; });
}

int main(int argument_count, char** arguments) try { // deadlines [serve] [ADDRESS]
  const std::vector<std::string> words(arguments + 1, arguments + argument_count);
  const auto serves = !words.empty() && words[0] == "serve";
  const auto address = words.size() > (serves ? 1 : 0) ? words.back() : "unix://@deadlines";
  troupe::type_registry types;
  troupe::family_set families;
  troupe::system_config config;
  caf::actor_system system{config};
  auto node = troupe::value_or_throw(troupe::node::open(system, types, families, {}));
  if (serves) {
    auto heated = system.spawn<caf::detached>(oven);
    troupe::value_or_throw(node.publish("oven", heated));
    troupe::value_or_throw(node.publish("baker", system.spawn(baker, heated)));
    troupe::value_or_throw(node.listen({address}));
    std::cout << "serving until Enter is pressed" << std::endl;
    std::cin.get();
    return 0;
  }
  auto link = troupe::value_or_throw(node.connect(address));
  caf::scoped_actor self{system};
  self->wait_for(system.spawn(customer, troupe::value_or_throw(link.find("baker"))));
  self->request(troupe::value_or_throw(link.find("oven")), 10s, count_atom::value)
      .receive([](int count) { std::cout << "the oven has baked " << count << " cakes\n"; },
               [&](const caf::error& why) { throw std::runtime_error(system.render(why)); });
  return 0;
} catch (const std::exception& failure) {
  std::cerr << failure.what() << '\n';
  return 1;
}
