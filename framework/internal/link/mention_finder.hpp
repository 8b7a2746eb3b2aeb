// Finds what an incoming message names in addition to its bytes.
#pragma once

#include <expected>
#include <vector>

#include <troupe/framework/internal/caf_port/actor_pointers.hpp>
#include <troupe/framework/internal/objects/object_source.hpp>
#include <troupe/framework/internal/wire/packet.hpp>
#include <troupe/framework/node_errc.hpp>
#include <troupe/serializers/frame.hpp>

namespace troupe::internal {

/// Finds what messages name. Fails with `protocol_violation` if the peer must not name it.
///
/// Threads: one.
class mention_finder {
public:
  virtual ~mention_finder() = default;

  /// Counts one mention of the actor.
  [[nodiscard]] virtual std::expected<caf::strong_actor_ptr, node_error> find_actor(const actor_mention& which) = 0;

  /// Takes over all objects that one message mentions, as they are described. A lost object becomes a source that
  /// reports the loss.
  [[nodiscard]] virtual std::expected<std::vector<object_source_ptr>, node_error>
  receive_objects(const std::vector<object_mention>& described) = 0;

  /// Takes over a frame in the shared store. Fails with another error if the frame is lost.
  [[nodiscard]] virtual std::expected<frame, node_error> receive_frame(const frame_descriptor& where) = 0;
};

} // namespace troupe::internal
