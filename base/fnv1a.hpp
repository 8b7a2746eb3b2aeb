// The hash FNV-1a, where a number must be the same in every process and version.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace troupe::detail {

/// FNV-1a in 64 bits (Fowler, Noll and Vo). Its high bits depend little on the last bytes, and equal hashes are easily
/// made on purpose: mix the result where every bit matters, and use salted_hash for keys that a peer chooses.
[[nodiscard]] constexpr std::uint64_t fnv1a(std::string_view text) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const auto each : text)
    hash = (hash ^ static_cast<unsigned char>(each)) * 0x100000001b3;
  return hash;
}

[[nodiscard]] inline std::uint64_t fnv1a(std::span<const std::byte> bytes) noexcept {
  return fnv1a({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

} // namespace troupe::detail
