// Bodies of the family `typed` that claim a layout.
#pragma once

#include <cstring>

namespace fuzz {

/// The form "by description", and the fingerprint.
inline constexpr std::size_t typed_prefix_bytes = 5;

inline std::vector<std::byte> typed_body(std::uint32_t fingerprint, std::span<const std::byte> value) {
  std::vector<std::byte> body(typed_prefix_bytes, std::byte{1});
  std::memcpy(body.data() + 1, &fingerprint, sizeof(fingerprint));
  body.insert(body.end(), value.begin(), value.end());
  return body;
}

} // namespace fuzz
