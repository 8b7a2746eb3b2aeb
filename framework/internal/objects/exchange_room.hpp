// Where the bytes of one object from another host go.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include <sys/types.h>

#include <troupe/framework/internal/objects/object_exchange.hpp>

namespace troupe::internal {

/// What this host's nodes call an object of another host, whichever of them has it from its exporter.
[[nodiscard]] store::object_origin origin_of(const handles::original& what, std::uint64_t size_bytes);

/// Guarded by the exchange's mutex, but for the bytes and what counts them, which are the I/O thread's.
struct object_exchange::room {
  handles::room_id id = 0;
  std::uint64_t size_bytes = 0;
  std::optional<store::builder> building;
  std::uint64_t filled_bytes = 0;
  std::atomic<std::uint64_t> ready_bytes = 0; // Of `building`, from its beginning: can be written.
  std::atomic<bool> is_made_ready = false;    // More of them, by the worker.
  std::uint32_t sum = 0;
  bool is_dropped = false;
  bool is_sealing = false;          // The builder is the worker's from then on.
  std::uint64_t reserved_bytes = 0; // While it is being filled.
  std::string why_full;             // Why there is no room for it yet.
  // What it is to be a replica of, as the store knows it; empty: nobody else has, or is to have, the same.
  store::object_origin origin;
  store::object_id awaited; // What another one writes of it.
  pid_t writer = 0;         // Who does.
  std::uint32_t writers_progress = 0;
  std::chrono::steady_clock::time_point progressed; // When that was seen to change.
  std::optional<std::chrono::steady_clock::time_point> waits_until;
};

} // namespace troupe::internal
