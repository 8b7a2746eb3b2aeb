// Which bytes elsewhere a packet mentions: in a shared store, or in chunks before it.
#pragma once

#include <cstdint>
#include <vector>

#include <troupe/framework/internal/wire/packet.hpp>

namespace troupe::internal {

/// A part of an object in the store that both ends of a link share.
struct stored_part {
  std::uint32_t index = 0; // Of the object's id, as its generation.
  std::uint32_t generation = 0;
  std::uint64_t offset = 0;
  std::uint64_t size_bytes = 0;
  bool operator==(const stored_part&) const = default;
};

/// The frames of a message, and the objects that a description mentions, whose bytes are in the shared store. Of a
/// packet that cannot be read, those up to the damage. Pure.
[[nodiscard]] std::vector<stored_part> stored_parts_of(packet_kind kind, std::uint8_t detail, bytes_view body);

/// The numbers of the frames of a message that came in chunks before it. Of a message that cannot be read, those up to
/// the damage. Pure.
[[nodiscard]] std::vector<std::uint64_t> transfers_of(std::uint8_t detail, bytes_view message);

} // namespace troupe::internal
