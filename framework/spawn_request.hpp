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

/// Precedes the constructor arguments in a spawn request.
struct spawn_call {
  std::string name;
  std::vector<std::string> interface; // Empty for untyped handles.
};
TROUPE_DESCRIBE(spawn_call, name, interface)

} // namespace internal

/// A call that spawns an actor in the peer. It is not sent yet.
///
/// A request fails with an error of requests over links (link.hpp), or with
/// - `not_allowed`: the peer's end of the link has no `allow_spawn`.
/// - `not_found`: no actor type is registered in the peer under the name.
/// - `interface_mismatch`: the actor's constructor takes other arguments, or the actor has other messages.
/// - `spawn_failed`: the text has what the constructor threw.
///
/// Threads: one at a time. Lifetime: may outlive the link; the call then fails with `link_down`. The actor system must
/// outlive it.
template <class Handle>
class spawn_request {
public:
  spawn_request(caf::actor spawner, caf::message call) : spawner_(std::move(spawner)), call_(std::move(call)) {}

  /// Sends the call as an ordinary request of the actor `self`. The answer is a caf::strong_actor_ptr, which
  /// `caf::actor_cast<Handle>` converts into the handle, or a caf::error, which to_node_error() converts.
  template <class Self>
  auto request(Self* self, std::chrono::milliseconds timeout) && {
    return self->request(spawner_, bounded_wait(timeout), std::move(call_));
  }

  /// Sends the call and blocks until the answer or the timeout. Do not call it in actors' handlers. Fails with
  /// `timed_out` or one of the errors above.
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
spawn_request<Handle> link::spawn(std::string name, Arguments&&... arguments) const {
  const auto interface = system().message_types<Handle>();
  internal::spawn_call call{.name = std::move(name), .interface = {interface.begin(), interface.end()}};
  return {spawner(), caf::make_message(std::move(call), std::forward<Arguments>(arguments)...)};
}

} // namespace troupe
