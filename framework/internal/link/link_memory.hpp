// What a link keeps, for the survey of a node's objects.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include <troupe/framework/internal/objects/named_object.hpp>
#include <troupe/store/object_id.hpp>

namespace troupe::internal {

/// What one link keeps.
struct link_memory {
  std::uint64_t channel = 0; // Its number in the exchange.
  std::uint64_t serial = 0;
  std::string peer;
  struct handed_over {
    store::object_id object;
    std::uint64_t count = 0;
    std::chrono::steady_clock::time_point since;
  };
  std::vector<handed_over> exported; // In the store of both ends.
  std::vector<named_object> queued;  // Once for each message.
  std::vector<named_object> pending; // The same.
};

} // namespace troupe::internal
