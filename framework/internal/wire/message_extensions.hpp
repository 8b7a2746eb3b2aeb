// The small map that a message may carry in addition to its elements (a deadline, a trace). A node skips unknown keys
// and forwards the whole map unchanged. Pure. The bytes: framework/link-protocol.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include <troupe/framework/internal/wire/packet.hpp>

namespace troupe::internal {

/// The maximum size of a message's map, all keys and values together.
inline constexpr std::size_t extension_bytes_max = 16 * 1024;
/// The maximum for a peer that does not have feature::traces.
inline constexpr std::size_t extension_bytes_without_traces_max = 1024;

/// The keys that this version knows; numbered by hand: append only.
enum class extension_key : std::uint64_t {
  value_bytes = 1, // The memory of the decoded values, as a varint; with feature::value_bytes.
  time_left = 2,   // Until a request's deadline (message_deadline.hpp); with feature::deadlines.
  // With feature::traces (message_trace.hpp):
  traceparent = 3, // The texts of W3C Trace Context and W3C Baggage.
  tracestate = 4,
  baggage = 5,
  sent_at = 6, // 8 bytes, microseconds since 1970, by the sender's clock.
  request_identity = 7 // Of a request that may be sent again (request_identity.hpp); with feature::repeats.
};

/// The maximum of value_bytes, so that sums do not overflow.
inline constexpr std::uint64_t value_bytes_max = std::uint64_t{1} << 62;

/// Returns the entry `value_bytes` of a map; 0 if there is none; value_bytes_max if it is unreadable or too large.
[[nodiscard]] std::uint64_t value_bytes_of(bytes_view map);
void append_value_bytes(byte_vector& map, std::uint64_t bytes);

/// Appends one entry to a map. Requires: keys are appended in ascending order.
void append_extension(byte_vector& map, std::uint64_t key, bytes_view value);

/// Whether the bytes are a map: at least one entry, keys greater than zero and ascending, nothing after the last value.
[[nodiscard]] bool is_extension_map(bytes_view map);

/// Calls `look(key, value)` for each entry, in order. Requires: is_extension_map(map), or an empty map.
template <class Look>
void each_extension(bytes_view map, Look&& look) {
  for (packet_reader in{map}; in.ok() && !in.rest().empty();) {
    const auto key = in.varint();
    const auto value = in.take(in.varint_up_to(extension_bytes_max));
    if (in.ok())
      look(key, value);
  }
}

/// Returns the value of a key as a view of `map`; nullopt if the key is missing. Requires: is_extension_map(map), or an
/// empty map.
[[nodiscard]] std::optional<bytes_view> find_extension(bytes_view map, std::uint64_t key);

} // namespace troupe::internal
