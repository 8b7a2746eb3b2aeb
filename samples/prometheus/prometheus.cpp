// A program whose metrics Prometheus can scrape: it asks a thermometer once a second over a link.
#include <iostream>
#include <stdexcept>

#include <unistd.h>

#include <troupe/framework/prometheus/metrics_endpoint.hpp>
#include <troupe/troupe.hpp>

using namespace std::chrono_literals;
using measure_atom = caf::atom_constant<caf::atom("measure")>;

struct reading {
  std::string sensor;
  double celsius = 0;
};
TROUPE_DESCRIBE(reading, sensor, celsius)

/// Asks at once, and again one second after each answer.
caf::behavior asker(caf::event_based_actor* self, const caf::actor& thermometer) {
  self->send(self, measure_atom::value);
  return {[self, thermometer](measure_atom) {
    self->request(thermometer, 5s, measure_atom::value)
        .then([self](const reading&) { self->delayed_send(self, 1s, measure_atom::value); },
              [self](const caf::error&) { self->quit(); });
  }};
}

int main(int argument_count, char** arguments) try { // prometheus [ADDRESS]
  const std::string at = argument_count > 1 ? arguments[1] : "127.0.0.1:9464";
  troupe::type_registry types;
  types.add<reading>("weather.reading");
  troupe::family_set families;
  troupe::system_config far_config, near_config;
  caf::actor_system far_system{far_config}, near_system{near_config};
  const auto address = "unix://@prometheus-" + std::to_string(getpid());
  auto far = troupe::value_or_throw(
      troupe::node::open(far_system, types, families, {.name = "roof", .listen = {address}, .store = {}}));
  troupe::value_or_throw(far.publish("thermometer", far_system.spawn([]() -> caf::behavior {
    return {[](measure_atom) { return reading{"roof", 21.5}; }};
  })));
  auto near =
      troupe::value_or_throw(troupe::node::open(near_system, types, families, {.name = "station", .store = {}}));
  auto link = troupe::value_or_throw(near.connect(address));
  near_system.spawn(asker, troupe::value_or_throw(link.find("thermometer")));

  auto endpoint = troupe::value_or_throw(troupe::metrics_endpoint::open(near, {.address = at}));
  std::cout << "serving " << endpoint.url() << " until Enter is pressed" << std::endl;
  std::cin.get();
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
