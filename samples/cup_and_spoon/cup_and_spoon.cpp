// A cup stirred by objects of any class that can stir: `cup_and_spoon serve` in one terminal, `cup_and_spoon` in
// another.
#include <iostream>
#include <stdexcept>

#include <troupe/framework/resolving.hpp>
#include <troupe/troupe.hpp>

using namespace std::chrono_literals;

/// The base class of all that stir. The cup knows only this class, and gets an object of the class that was sent.
struct stirrer {
  virtual ~stirrer() = default;
  virtual std::string name() const = 0;
  virtual bool stirs() const = 0;
};
TROUPE_DESCRIBE(stirrer)

struct spoon : stirrer {
  std::string metal;
  std::string name() const override { return "a spoon of " + metal; }
  bool stirs() const override { return true; }
};
TROUPE_DESCRIBE_DERIVED(spoon, (stirrer), metal)

struct leborn : stirrer {
  std::string reason;
  std::string name() const override { return "a Leborn, which " + reason; }
  bool stirs() const override { return false; }
};
TROUPE_DESCRIBE_DERIVED(leborn, (stirrer), reason)

using stirrer_ptr = std::shared_ptr<stirrer>;
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(stirrer_ptr)

using pour_atom = caf::atom_constant<caf::atom("pour")>;
using stir_atom = caf::atom_constant<caf::atom("stir")>;

struct cup_state {
  int capacity_ml = 250;
  int content_ml = 0;
  int stirs = 0;
};

/// The handlers take values. `resolving` makes them accept references to values as well.
caf::behavior cup(caf::stateful_actor<cup_state>* self) {
  const auto refuse = [](const std::string& why) { return caf::make_error(caf::sec::runtime_error, why); };
  return troupe::resolving{self,
                           [self, refuse](pour_atom, int ml) -> caf::result<std::string> {
                             auto& [capacity_ml, content_ml, stirs] = self->state;
                             if (ml < 0 || ml > capacity_ml - content_ml)
                               return refuse("there is room for " + std::to_string(capacity_ml - content_ml) + " ml");
                             content_ml += ml;
                             stirs = 0;
                             return std::to_string(content_ml) + " of " + std::to_string(capacity_ml) + " ml";
                           },
                           [self, refuse](stir_atom, const stirrer_ptr& with) -> caf::result<std::string> {
                             if (!with)
                               return refuse("nothing does not stir");
                             if (!with->stirs())
                               return refuse(with->name() + ", does not stir");
                             const auto is_good = ++self->state.stirs >= 3;
                             return with->name() + (is_good ? ": the cup is good" : ": not good yet");
                           }};
}

int main(int argument_count, char** arguments) try { // cup_and_spoon [serve] [ADDRESS]
  const std::vector<std::string> words(arguments + 1, arguments + argument_count);
  const auto serves = !words.empty() && words[0] == "serve";
  const auto address = words.size() > (serves ? 1 : 0) ? words.back() : "unix://@cup_and_spoon";
  troupe::type_registry types;
  types.add<spoon>("cup.spoon").add<leborn>("cup.leborn").add<stirrer_ptr>("cup.stirrer");
  types.add<troupe::object_ref<stirrer_ptr>>("cup.stirrer_ref");
  troupe::family_set families;
  troupe::system_config config;
  caf::actor_system system{config};
  if (serves) {
    auto node = troupe::value_or_throw(troupe::node::open(
        system, types, families, {.name = "kitchen", .listen = {address}, .publish = {{"cup", system.spawn(cup)}}}));
    std::cout << "serving until Enter is pressed" << std::endl;
    std::cin.get();
    return 0;
  }
  auto node = troupe::value_or_throw(troupe::node::open(system, types, families, {.name = "guest"}));
  auto link = troupe::value_or_throw(node.connect(address));
  auto remote_cup = troupe::value_or_throw(link.find("cup"));
  caf::scoped_actor self{system};
  const auto ask = [&](const std::string& what, const auto&... message) {
    self->request(remote_cup, 5s, message...)
        .receive([&](const std::string& answer) { std::cout << what << ": " << answer << '\n'; },
                 [&](const caf::error& error) { std::cout << what << " fails: " << troupe::text_of(error) << '\n'; });
  };
  auto silver = std::make_shared<spoon>();
  silver->metal = "silver";
  auto idle = std::make_shared<leborn>();
  idle->reason = "sits and watches";
  const stirrer_ptr by_value = silver, watcher = idle;
  const auto by_reference =
      troupe::value_or_throw(node.put(by_value)); // The value lies in the store; the message carries a handle.

  ask("pour 200 ml", pour_atom::value, 200);
  ask("pour 100 ml", pour_atom::value, 100);
  ask("stir", stir_atom::value, by_value);
  ask("stir with a Leborn", stir_atom::value, watcher);
  ask("stir by reference", stir_atom::value, by_reference);
  ask("stir by reference", stir_atom::value, by_reference);
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
