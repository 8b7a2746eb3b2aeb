// Spawning actors in the peer: link::spawn.
#pragma once

#include <chrono>
#include <expected>
#include <string>
#include <utility>
#include <vector>

#include <caf/actor_cast.hpp>
#include <caf/actor_control_block.hpp>
#include <caf/actor_system.hpp>
#include <caf/message.hpp>
#include <caf/scoped_actor.hpp>

#include <troupe/base/longest_wait.hpp>
#include <troupe/framework/link.hpp>
#include <troupe/framework/message_types.hpp>
#include <troupe/framework/node_error.hpp>
#include <troupe/serializers/describe.hpp>

namespace troupe {

namespace internal {

/// Stands ahead of the arguments of an actor that is to be spawned.
struct spawn_call {
  std::string name;
  std::vector<std::string> interface; // Empty for untyped handles.
};
TROUPE_DESCRIBE(spawn_call, name, interface)

} // namespace internal

/// An actor that the peer shall spawn; nothing is sent yet.
///
/// What fails gives one of these: `not_allowed` (the peer's link does not allow spawning), `not_found` (no actor type
/// is registered there under the name), `interface_mismatch` (its arguments or messages are others), `spawn_failed`
/// (what its constructor threw), and all that requests over links may fail with.
template <class Handle>
class spawning {
public:
  spawning(caf::actor spawner, caf::message call) : spawner_(std::move(spawner)), call_(std::move(call)) {}

  /// Sends it as `self->request(...)` does any request. The answer is a caf::strong_actor_ptr:
  /// `caf::actor_cast<Handle>` makes the handle of it.
  template <class Self>
  auto request(Self* self, std::chrono::milliseconds timeout) && {
    return self->request(spawner_, bounded_wait(timeout), std::move(call_));
  }

  /// Sends it and waits. Not for actors' handlers.
  [[nodiscard]] std::expected<Handle, node_error> get(std::chrono::milliseconds timeout) && {
    caf::scoped_actor self(caf::actor_cast<caf::abstract_actor*>(spawner_)->home_system());
    std::expected<Handle, node_error> answer = std::unexpected(node_error(node_errc::timed_out, "no answer"));
    self->request(spawner_, bounded_wait(timeout), std::move(call_))
        .receive([&](caf::strong_actor_ptr& spawned) { answer = caf::actor_cast<Handle>(std::move(spawned)); },
                 [&](const caf::error& error) { answer = std::unexpected(to_node_error(error)); });
    return answer;
  }

private:
  caf::actor spawner_;
  caf::message call_;
};

template <class Handle, class... Arguments>
spawning<Handle> link::spawn(std::string name, Arguments&&... arguments) const {
  const auto interface = system().message_types<Handle>();
  internal::spawn_call call{.name = std::move(name), .interface = {interface.begin(), interface.end()}};
  return {spawner(), caf::make_message(std::move(call), std::forward<Arguments>(arguments)...)};
}

} // namespace troupe
