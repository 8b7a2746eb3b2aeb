// A hub and three peers. Each link has its own families. Shows which family carries each message, which messages are
// refused and why, and messages between peers that the hub forwards without decoding them. README.md shows the output.
// `families_per_link compare readings.svg` measures what a reading costs by each family instead, and
// `families_per_link record readings.tape` records readings, for `troupe tape cost`.
#include <fstream>
#include <iostream>
#include <stdexcept>

#include <unistd.h>

#include <troupe/serializers/cereal/cereal_family.hpp>
#include <troupe/serializers/cereal/cereal_type.hpp>
#include <troupe/troupe.hpp>
#ifdef HAS_COMPARISON
#include <troupe/framework/bench/compare.hpp>
#endif

struct reading {
  std::string sensor;
  double celsius = 0;
};
TROUPE_DESCRIBE(reading, sensor, celsius)

/// Only the plant and the hub register this type.
struct alarm_bell {
  std::string sensor;
};
TROUPE_DESCRIBE(alarm_bell, sensor)

/// Has functions for cereal, but no description.
struct exhibit {
  int year = 0;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(year);
  }
};
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(exhibit)

/// A node and everything it needs; a program normally has one.
struct station {
  explicit station(const std::string& name, const troupe::link_options& accepted = {}) {
    types.add<reading>("plant.reading");
    troupe::add_cereal<exhibit>(types, "museum.exhibit");
    if (name == "plant" || name == "hub")
      types.add<alarm_bell>("plant.alarm");
    families.add(std::make_unique<troupe::cereal_family>());
    address = "unix://@" + name + '-' + std::to_string(getpid());
    node.emplace(troupe::value_or_throw(troupe::node::open(
        system, types, families, {.name = name, .listen = {address}, .accepted_links = accepted, .store = {}})));
    troupe::value_or_throw(node->publish("teller", system.spawn([name]() -> caf::behavior {
      return {[name](const reading& what) { return name + " has read " + what.sensor; },
              [name](const alarm_bell& what) { return name + " has heard " + what.sensor; },
              [name](const exhibit& what) { return name + " shows what is from " + std::to_string(what.year); }};
    })));
  }

  /// Prints the answer, or the reason why there is none.
  template <class Message>
  void tell(const caf::actor& teller, const std::string& what, const Message& message) {
    caf::scoped_actor self{system};
    self->request(teller, std::chrono::seconds(5), message)
        .receive([&](const std::string& answer) { std::cout << what << ": " << answer << '\n'; },
                 [&](const caf::error& error) { std::cout << what << ": " << troupe::text_of(error) << '\n'; });
  }

  troupe::type_registry types;
  troupe::family_set families;
  troupe::system_config config;
  caf::actor_system system{config};
  std::string address;
  std::optional<troupe::node> node;
};

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (const auto& name : names)
    text += (text.empty() ? "" : ", ") + name;
  return text;
}

void show_families(const troupe::link& link) {
  std::cout << "hub to " << link.peer_name() << " with [" << listed(link.serializers()) << "]:";
  for (const auto& row : link.stats().by_type)
    if (row.sent.payloads > 0)
      std::cout << ' ' << row.type << " by " << row.family;
  std::cout << '\n';
}

#ifdef HAS_COMPARISON
/// Prints what a reading costs by each family and over each kind of link, and writes the plot into a file.
void compare_families(const std::string& file) {
  troupe::type_registry types;
  troupe::add_cereal<reading>(types, "plant.reading");
  troupe::family_set families;
  families.add(std::make_unique<troupe::cereal_family>());
  const std::vector<reading> samples{{"roof", 21.5}, {"the vault below the museum", 18}};
  const auto result = troupe::value_or_throw(
      troupe::bench::compare<reading>(samples, {.families = {"typed", "msgpack", "json", "cereal"},
                                                .over = {"inproc", "unix", "tcp", "store"},
                                                .time = std::chrono::seconds(2),
                                                .name = "plant.reading",
                                                .types = &types,
                                                .known_families = &families}));
  std::cout << result.table() << '\n' << result.advice() << '\n';
  if (const auto plot = result.svg(); !plot)
    std::cerr << "no plot: " << plot.error().message() << '\n';
  else if (!(std::ofstream(file) << *plot))
    std::cerr << file << " cannot be written\n";
}
#endif

/// Records a link that sends readings by json. The file is complete once the hub has ended.
void record_readings(const std::string& file) {
  constexpr int count = 1000;
  station plant("plant", {.serializers = {"json"}});
  station hub("hub");
  auto to_plant =
      troupe::value_or_throw(hub.node->connect(plant.address, {.serializers = {"json"}, .recording = {.file = file}}));
  const auto teller = troupe::value_or_throw(to_plant.find("teller"));
  caf::scoped_actor self{hub.system};
  for (auto number = 0; number < count; ++number)
    self->request(teller, std::chrono::seconds(5), reading{"sensor " + std::to_string(number % 7), 20 + number * 0.001})
        .receive([](const std::string&) {},
                 [](const caf::error& error) { throw std::runtime_error(troupe::text_of(error)); });
  std::cout << count << " readings and their answers are in " << file << '\n';
}

int main(int argument_count, char** arguments) try {
  if (argument_count == 3 && std::string(arguments[1]) == "record") {
    record_readings(arguments[2]);
    return 0;
  }
  if (argument_count == 3 && std::string(arguments[1]) == "compare") {
#ifdef HAS_COMPARISON
    compare_families(arguments[2]);
    return 0;
#else
    throw std::runtime_error("this Troupe was built without troupe::bench");
#endif
  }
  station plant("plant", {.serializers = {"typed"}});
  station office("office", {.serializers = {"msgpack"}});
  station museum("museum", {.serializers = {"cereal", "typed"}, .trusted_families = true});
  station hub("hub");

  std::cout << "-- When connecting\n";
  const auto no_family = hub.node->connect(office.address, {.serializers = {"typed"}});
  std::cout << "typed to the office: " << (no_family ? "connected" : no_family.error().message()) << '\n';
  const auto no_trust = hub.node->connect(museum.address, {.serializers = {"cereal"}});
  std::cout << "cereal without trust: " << (no_trust ? "connected" : no_trust.error().message()) << '\n';

  auto to_plant = troupe::value_or_throw(hub.node->connect(plant.address, {.serializers = {"typed"}}));
  auto to_office = troupe::value_or_throw(hub.node->connect(office.address, {.serializers = {"msgpack", "typed"}}));
  auto to_museum = troupe::value_or_throw(
      hub.node->connect(museum.address, {.serializers = {"cereal", "typed"}, .trusted_families = true}));
  const auto at_plant = troupe::value_or_throw(to_plant.find("teller"));
  const auto at_office = troupe::value_or_throw(to_office.find("teller"));
  const auto at_museum = troupe::value_or_throw(to_museum.find("teller"));

  std::cout << "-- A reading to everybody, an exhibit to the museum\n";
  for (const auto& teller : {at_plant, at_office, at_museum})
    hub.tell(teller, "reading", reading{"roof", 21.5});
  hub.tell(at_museum, "exhibit", exhibit{1765});
  for (const auto& link : {to_plant, to_office, to_museum})
    show_families(link);

  std::cout << "-- Refused where it is sent: no family in common carries it\n";
  hub.tell(at_office, "exhibit to the office", exhibit{1765});

  std::cout << "-- Refused where it is received: a type that is not known there; from then on where it is sent\n";
  hub.tell(at_plant, "alarm to the plant", alarm_bell{"boiler"});
  hub.tell(at_office, "alarm to the office", alarm_bell{"boiler"});
  hub.tell(at_office, "alarm to the office", alarm_bell{"boiler"});

  std::cout << "-- From peer to peer, through the hub\n";
  troupe::value_or_throw(
      hub.node->publish("plant's teller", at_plant)); // Other peers reach the plant's actor through the hub.
  museum.tell(troupe::value_or_throw(museum.node->links().at(0).find("plant's teller")), "museum to plant",
              reading{"vault", 18});
  office.tell(troupe::value_or_throw(office.node->links().at(0).find("plant's teller")), "office to plant",
              reading{"desk", 23});
  std::cout << "messages that the hub passed on without decoding them: " << hub.node->stats().links.forwarded << '\n';
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
