// What the peer's messages name: actors, objects, frames in the shared store.
#pragma once

#include <atomic>
#include <cstdint>
#include <expected>
#include <vector>

#include <troupe/framework/internal/link/mention_finder.hpp>

namespace troupe::internal {

class actor_names;
class link_in_exchange;
class shared_store_objects;

/// Finds in the link's tables what the peer's messages name.
///
/// Threads: the I/O thread.
class mention_reader final : public mention_finder {
public:
  /// Parts of the link; all must outlive this object.
  struct parts {
    actor_names& actors;
    link_in_exchange& counted;
    shared_store_objects& stored;
    std::atomic<std::uint64_t>& handle_bytes; // Received bytes behind handles of stored objects.
  };
  explicit mention_reader(const parts& of) : of_(of) {}

  [[nodiscard]] std::expected<caf::strong_actor_ptr, node_error> find_actor(const actor_mention& which) override;
  /// The objects stay received if their message fails later.
  [[nodiscard]] std::expected<std::vector<object_source_ptr>, node_error>
  receive_objects(const std::vector<object_mention>& described) override;
  [[nodiscard]] std::expected<frame, node_error> receive_frame(const frame_descriptor& where) override;

private:
  [[nodiscard]] std::expected<object_source_ptr, node_error> receive_stored(const object_mention& described);

  const parts of_;
};

} // namespace troupe::internal
