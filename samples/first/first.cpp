#include <iostream>
#include <troupe/troupe.hpp>

using adder_actor = caf::typed_actor<caf::replies_to<int, int>::with<int>>;

int main(int argument_count, char**) {
  troupe::type_registry types;
  troupe::family_set families;
  troupe::system_config config;
  caf::actor_system system{config};
  auto node = value_or_throw(troupe::node::open(system, types, families, {}));
  if (argument_count > 1) { // first serve
    auto adder = system.spawn([]() -> adder_actor::behavior_type { return {[](int a, int b) { return a + b; }}; });
    value_or_throw(node.publish("adder", adder));
    value_or_throw(node.listen({"unix://@first"}));
    std::cout << "serving until Enter is pressed" << std::endl;
    std::cin.get();
  } else {
    auto link = value_or_throw(node.connect("unix://@first"));
    auto adder = caf::make_function_view(value_or_throw(link.find<adder_actor>("adder")));
    std::cout << "2 + 3 = " << *adder(2, 3) << '\n';
  }
}
