// Where the bytes of one object from another host go.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include <troupe/framework/internal/object_exchange.hpp>

namespace troupe::internal {

/// What this host's nodes call an object of another host, whichever of them has it from its exporter.
[[nodiscard]] store::object_origin origin_of(const handles::original& what, std::uint64_t size_bytes);

/// Guarded by the exchange's mutex, but for the bytes and what counts them, which are the I/O thread's.
struct object_exchange::room {
  handles::room_id id = 0;
  std::uint64_t size_bytes = 0;
  std::optional<store::builder> building;
  std::uint64_t filled_bytes = 0;
  std::uint32_t sum = 0;
  bool is_dropped = false;
  std::uint64_t reserved_bytes = 0; // While it is being filled.
  // What it is to be a replica of, as the store knows it; empty: nobody else has, or is to have, the same.
  store::object_origin origin;
  store::object_id awaited; // What another one writes of it.
  std::optional<std::chrono::steady_clock::time_point> waits_until;
};

} // namespace troupe::internal
