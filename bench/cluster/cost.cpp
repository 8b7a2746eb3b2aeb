// The work of messages through a plain handle, a service handle and the handle of an entity, for bench/instructions:
// two nodes of one process that have joined a cluster, an actor that does nothing, and a sender outside of actors.
//   service_cost plain|service|entity one-way|requests MESSAGES
#include "cluster/member_node.hpp"
#include "healing/handle_kinds.hpp"
#include "peers/own_folder.hpp"

#include <cstdlib>
#include <iostream>
#include <stdexcept>
#include <string>

#include <caf/all.hpp>
#include <troupe/base/value_or_throw.hpp>

namespace {

constexpr std::uint64_t window = 100;
constexpr std::chrono::minutes lease{10}; // So that no keep-alive is counted.

void join(bench::member_node& member, const std::string& name) {
  if (const auto joined = member.open_and_join(name, "host://service-cost", lease); !joined)
    throw std::runtime_error(joined.error());
}

} // namespace

int main(int argument_count, char** arguments) try {
  const std::string subject = argument_count == 4 ? arguments[1] : "";
  if (subject != "plain" && subject != "service" && subject != "entity")
    throw std::runtime_error("service_cost plain|service|entity one-way|requests MESSAGES");
  const auto send = arguments[2] == std::string{"requests"} ? bench::send_requests : bench::send_messages;
  const auto messages = std::strtoull(arguments[3], nullptr, 10);
  const bench::own_folder state{"troupe-bench-cost"};
  ::setenv("TROUPE_STATE_DIR", state.path().c_str(), 1);
  bench::member_node far, near;
  join(far, "far");
  join(near, "near");
  troupe::value_or_throw(far.cluster().publish(bench::receiver_name, far.system().spawn(bench::receiving)));
  const troupe::entity_options options{.idle_after = std::chrono::milliseconds{0}};
  const auto hosted = troupe::value_or_throw(far.cluster().host_entities(
      bench::receiver_name,
      [](caf::actor_system& system, const troupe::entity_context&) { return system.spawn(bench::receiving); },
      options));
  auto link = troupe::value_or_throw(near.node().connect(far.node().addresses().front()));
  const caf::actor plain = troupe::value_or_throw(link.find(bench::receiver_name));
  const auto service = near.cluster().service(bench::receiver_name, {.pick = troupe::round_robin});
  const auto entity = troupe::value_or_throw(near.cluster().entity(bench::receiver_name, "one"));
  const caf::scoped_actor self{near.system()};
  for (const auto& each : {plain, service.handle(), entity})
    bench::send_requests(self, each, 1, 1); // The service and the entity have now been found.
  send(self, subject == "plain" ? plain : subject == "service" ? service.handle() : entity, messages, window);
  return 0;
} catch (const std::exception& failure) {
  std::cerr << failure.what() << '\n';
  return 1;
}
