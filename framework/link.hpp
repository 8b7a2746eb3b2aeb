// One connection between two nodes, as its user sees it.
#pragma once

#include <chrono>
#include <cstdint>
#include <expected>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <typeindex>
#include <vector>

#include <caf/actor.hpp>
#include <caf/actor_cast.hpp>
#include <caf/actor_system.hpp>

#include <troupe/framework/fwd.hpp>
#include <troupe/framework/node_error.hpp>

namespace troupe {

/// What one link has done so far. Bytes through the socket include heads and everything else that is written.
struct link_stats {
  std::uint64_t messages_sent = 0;
  std::uint64_t messages_received = 0;
  std::uint64_t socket_bytes_sent = 0;
  std::uint64_t socket_bytes_received = 0;
  std::uint64_t handle_bytes_sent = 0; // Size of the frames that travelled as handles.
  std::uint64_t handle_bytes_received = 0;
  std::uint64_t unserializable = 0; // Not sent: no family in common, or a value that cannot be encoded.
  std::uint64_t undecodable = 0;    // Received, but not delivered.
  /// Sent after the link was down, or not written when it ended, or received for nobody. What the system had taken for
  /// a peer that then did not read it is not known.
  std::uint64_t undelivered = 0;
  std::uint64_t store_fallbacks = 0;  // Frames that went through the socket because the store was full.
  std::uint64_t refused_at_bound = 0; // Not sent, because the peer had not consumed enough.
  std::uint64_t dropped = 0;          // Dropped while they waited, to make room for newer ones.
  // Now, against the bounds of the link's options:
  std::uint64_t unconsumed_bytes_there = 0; // Sent and not consumed by the peer, as far as it has said.
  std::uint64_t waiting_bytes = 0;          // Waiting on this end.
  std::uint64_t unconsumed_bytes_here = 0;  // Received and not consumed.
  std::uint64_t unread_bytes = 0;           // Written, or large frames on their way, and not taken by the system.
  /// Now, and against no bound: large frames that came through the socket and still live, on their way in, in messages,
  /// or because actors keep views of them.
  std::uint64_t large_frame_bytes_here = 0;
};

/// A reference to a link; copies refer to the same one. A link is used once: after its end, connecting again makes a
/// new one, and everything reached through the old one stays down.
///
/// Threads: every member from any thread; `find` blocks and is not for actors' handlers.
/// Lifetime: the node owns the link, which goes on when the last reference to it is dropped, until `close` or the
/// node's end.
class link {
public:
  explicit link(std::shared_ptr<internal::link_core> core) : core_(std::move(core)) {}

  /// Looks up what the peer has published under `name`. The handle is an ordinary one; `Handle` may be `caf::actor` or
  /// a typed actor, whose interface is then checked.
  /// Fails with `not_found`, `interface_mismatch`, `timed_out` or `link_down`.
  template <class Handle = caf::actor>
  [[nodiscard]] std::expected<Handle, node_error> find(std::string_view name,
                                                       std::chrono::milliseconds timeout = std::chrono::seconds(5)) {
    auto found = find_untyped(name, system().message_types<Handle>(), timeout);
    if (!found)
      return std::unexpected{std::move(found).error()};
    return caf::actor_cast<Handle>(*std::move(found));
  }

  /// A call of a registered function (type_registry::add_function) that runs in the peer, where its end of the link has
  /// `allow_tasks`. Nothing is sent before `request` or `get` of what this gives: see task.hpp, where both are defined.
  /// Arguments are converted as in a call of the function; an object_ref travels as a handle.
  ///
  ///     link.submit(troupe::fn_ref<&count_words>, text).request(self, 5s).then([](int words) { ... }, ...);
  ///     auto words = link.submit(threshold{0.5}, samples).get(5s); // A described functor brings its state.
  template <auto Function, class... Arguments>
  auto submit(function_ref<Function>, Arguments&&... arguments) const;
  template <class Functor, class... Arguments>
  requires(std::is_class_v<Functor>) auto submit(Functor functor, Arguments&&... arguments) const;

  /// The name that the peer's node was opened with.
  [[nodiscard]] const std::string& peer_name() const;

  /// Families that this end sends with, as far as the peer accepts them, and those that it accepts.
  [[nodiscard]] std::vector<std::string> serializers() const;
  [[nodiscard]] std::vector<std::string> deserializers() const;

  /// Whether large frames travel as handles to one store.
  [[nodiscard]] bool shares_store() const;

  [[nodiscard]] bool is_open() const;

  [[nodiscard]] link_stats stats() const;

  /// Writes what was sent so far, then ends the link. Returns at once.
  void close();

private:
  [[nodiscard]] caf::actor_system& system() const;
  /// Who runs the function, and its name; where that cannot be, an actor that answers with the reason.
  [[nodiscard]] caf::actor runner_of(std::type_index key, std::string& name) const;
  [[nodiscard]] caf::actor refusal_of_undescribed(std::type_index functor) const;
  [[nodiscard]] std::expected<caf::strong_actor_ptr, node_error>
  find_untyped(std::string_view name, const std::set<std::string>& interface, std::chrono::milliseconds timeout);

  std::shared_ptr<internal::link_core> core_;
};

} // namespace troupe
