// What a message names beside its bytes, and who finds it.
#pragma once

#include <expected>
#include <vector>

#include <troupe/framework/internal/caf_port/actor_pointers.hpp>
#include <troupe/framework/internal/objects/object_source.hpp>
#include <troupe/framework/internal/wire/packet.hpp>
#include <troupe/framework/node_errc.hpp>
#include <troupe/serializers/frame.hpp>

namespace troupe::internal {

/// Finds what messages name. `protocol_violation`: the peer may not name it.
///
/// Threads: one.
class mention_finder {
public:
  virtual ~mention_finder() = default;

  /// Counts one mention of the actor.
  [[nodiscard]] virtual std::expected<caf::strong_actor_ptr, node_error> find_actor(const actor_mention& which) = 0;

  /// Takes over all of the objects that one message mentions, as they are described; of one that is lost, what says so.
  [[nodiscard]] virtual std::expected<std::vector<object_source_ptr>, node_error>
  receive_objects(const std::vector<object_mention>& described) = 0;

  /// Takes over a frame that lies in the store of both ends. Fails with another error where it is lost.
  [[nodiscard]] virtual std::expected<frame, node_error> receive_frame(const frame_descriptor& where) = 0;
};

} // namespace troupe::internal
