// Where the bytes of one object from another host go.
#pragma once

#include <cstdint>
#include <optional>

#include <troupe/framework/internal/object_exchange.hpp>

namespace troupe::internal {

/// Guarded by the exchange's mutex, but for the bytes and what counts them, which are the I/O thread's.
struct object_exchange::room {
  handles::room_id id = 0;
  std::uint64_t size_bytes = 0;
  std::optional<store::builder> building;
  std::uint64_t filled_bytes = 0;
  std::uint32_t sum = 0;
  bool is_dropped = false;
  std::uint64_t reserved_bytes = 0; // While it is being filled.
};

} // namespace troupe::internal
