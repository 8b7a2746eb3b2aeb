// What the target `wire` decodes: its input's first byte says which of these, the rest are the bytes.
#pragma once

#include <cstdint>

#include <troupe/framework/internal/wire/admin.hpp>

namespace fuzz {

/// Numbered by hand: append only, since inputs in corpora name them. Behind them come the admin messages, each by its
/// operation.
enum class wire_part : std::uint8_t {
  preamble = 0,
  packet_heads = 1,
  numbers = 2,
  message_head = 3, // Behind a byte of flags.
  element = 4,
  chunk_head = 5, // Behind a byte: whether it is the first.
  header = 6,
  signature = 7,
  transfers = 8, // Chunks and claims, one after the other.
  contract = 9,
  codecs_of_frames = 10,
  quoted_text = 11,
  value = 12,           // A byte: family and type; then the body. Types that only framework/ has.
  object_mentions = 13, // One after the other.
  object_chunk = 14,
};
inline constexpr std::uint8_t first_admin_part = 32;

[[nodiscard]] constexpr std::uint8_t part_of(troupe::internal::admin_op op) {
  return static_cast<std::uint8_t>(first_admin_part + static_cast<std::uint8_t>(op));
}

} // namespace fuzz
