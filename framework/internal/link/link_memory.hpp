// What a link keeps alive, for the survey of a node's objects.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include <troupe/framework/internal/objects/named_object.hpp>
#include <troupe/store/object_id.hpp>

namespace troupe::internal {

/// What one link keeps alive.
struct link_memory {
  std::uint64_t channel = 0; // The link's number in the exchange.
  std::uint64_t serial = 0;
  std::string peer;
  struct handed_over {
    store::object_id object;
    std::uint64_t count = 0;
    std::chrono::steady_clock::time_point since;
  };
  std::vector<handed_over> exported; // Objects in the shared store that the peer holds.
  std::vector<named_object> queued;  // Named by messages that have not left; once for each message.
  std::vector<named_object> pending; // Named by received messages that are not consumed; once for each message.
};

} // namespace troupe::internal
