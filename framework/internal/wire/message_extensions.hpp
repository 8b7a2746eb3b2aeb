// The small map that a message may carry besides its elements (a deadline, a trace). A node skips keys that it does not
// know, and forwards the whole map untouched. Pure. The bytes: framework/link-protocol.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include <troupe/framework/internal/wire/packet.hpp>

namespace troupe::internal {

/// How long a message's map may be, all keys and values together.
inline constexpr std::size_t extension_bytes_max = 1024;

/// Keys that this version knows; numbered by hand: append only.
enum class extension_key : std::uint64_t {
  value_bytes = 1 // What the values take once they are decoded, as a varint; with feature::value_bytes.
};

/// The most that value_bytes says, so that sums do not overflow.
inline constexpr std::uint64_t value_bytes_max = std::uint64_t{1} << 62;

/// The entry `value_bytes` of a map, or 0 without one. A number that cannot be read, or that is too large, is the most.
[[nodiscard]] std::uint64_t value_bytes_of(bytes_view map);
void append_value_bytes(byte_vector& map, std::uint64_t bytes);

/// Appends one entry to a map. Keys are numbered by hand and append in ascending order.
void append_extension(byte_vector& map, std::uint64_t key, bytes_view value);

/// Whether the bytes are a map: at least one entry, keys above zero and ascending, nothing behind the last value.
[[nodiscard]] bool is_extension_map(bytes_view map);

/// The value of a key, as a view of `map`; nullopt without that key. Requires: is_extension_map(map), or an empty map.
[[nodiscard]] std::optional<bytes_view> find_extension(bytes_view map, std::uint64_t key);

} // namespace troupe::internal
