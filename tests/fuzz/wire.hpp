// The parts that the target `wire` decodes. The input's first byte selects the part; the rest are the part's bytes.
#pragma once

#include <cstdint>

#include <troupe/framework/internal/wire/admin.hpp>

namespace fuzz {

/// Numbered by hand: append only, since inputs in corpora name them. The admin messages follow, each by its operation.
enum class wire_part : std::uint8_t {
  preamble = 0,
  packet_heads = 1,
  numbers = 2,
  message_head = 3, // After a byte of flags.
  element = 4,
  chunk_head = 5, // After a byte that says whether it is the first.
  header = 6,
  signature = 7,
  transfers = 8, // Chunks and claims in sequence.
  contract = 9,
  codecs_of_frames = 10,
  quoted_text = 11,
  value = 12,           // A byte for family and type, then the body. Types of framework/ only.
  object_mentions = 13, // Several in sequence.
  object_chunk = 14,
};
inline constexpr std::uint8_t first_admin_part = 32;

[[nodiscard]] constexpr std::uint8_t part_of(troupe::internal::admin_op op) {
  return static_cast<std::uint8_t>(first_admin_part + static_cast<std::uint8_t>(op));
}

} // namespace fuzz
