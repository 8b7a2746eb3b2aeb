#include <troupe/framework/internal/caf_port/actors/spawner.hpp>

#include <exception>
#include <set>
#include <string>
#include <utility>

#include <caf/actor.hpp>
#include <caf/actor_cast.hpp>
#include <caf/actor_system.hpp>
#include <caf/make_message.hpp>
#include <caf/message.hpp>
#include <caf/sec.hpp>

#include <troupe/framework/internal/caf_port/actors/request_runner.hpp>
#include <troupe/framework/internal/words/text.hpp>
#include <troupe/framework/spawn_request.hpp>

namespace troupe::internal {

namespace {

caf::error explain(const caf::error& error, const std::string& name) {
  if (error == caf::sec::unknown_type || error == caf::sec::invalid_argument)
    return failed(node_errc::not_found, "no actor type '" + name
                                            + "' is registered here; add it to the actor system's configuration with "
                                              "add_actor_type");
  if (error == caf::sec::cannot_spawn_actor_from_arguments)
    return failed(node_errc::interface_mismatch, "'" + name + "' cannot be constructed from these arguments");
  if (error == caf::sec::unexpected_actor_messaging_interface)
    return failed(node_errc::interface_mismatch, "'" + name + "' does not have the requested interface");
  return failed(node_errc::spawn_failed, "'" + name + "' was not spawned: " + cut(troupe::text_of(error)));
}

request_outcome spawn(caf::actor_system& system, const caf::message& request) {
  if (request.empty() || !request.match_element<spawn_call>(0))
    return failed(node_errc::unsupported, "the spawner of a link accepts only link::spawn");
  const auto& call = request.get_as<spawn_call>(0);
  const std::set<std::string> interface { call.interface.begin(), call.interface.end() };
  try {
    auto spawned = system.spawn<caf::actor>(call.name, request.drop(1), nullptr, true, &interface);
    if (!spawned)
      return explain(spawned.error(), call.name);
    return caf::make_message(caf::actor_cast<caf::strong_actor_ptr>(*spawned));
  } catch (const std::exception& failure) {
    return failed(node_errc::spawn_failed, "'" + call.name + "' was not spawned: " + cut(exception_text(failure)));
  } catch (...) {
    return failed(node_errc::spawn_failed,
                  "'" + call.name + "' was not spawned: its constructor threw an object that is not a std::exception");
  }
}

} // namespace

caf::actor spawn_spawner(caf::actor_system& system) {
  return spawn_request_runner(
      system, [&system](const caf::message& request, const caf::strong_actor_ptr&) { return spawn(system, request); });
}

} // namespace troupe::internal
