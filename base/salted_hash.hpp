// Hashes for keys that a peer or another process chooses.
#pragma once

#include <cstddef>
#include <cstdint>

#include <troupe/base/export.hpp>

namespace troupe::detail {

/// A new random number. Throws what std::random_device throws.
[[nodiscard]] TROUPE_EXPORT std::uint64_t random_salt();

/// A random number that stays the same for the life of the process. Any thread may call it. Throws what
/// std::random_device throws.
TROUPE_EXPORT inline std::uint64_t hash_salt() {
  static const std::uint64_t salt = random_salt();
  return salt;
}

/// Hashes the keys of a table if a peer or another process chooses these keys. The salt makes collisions unpredictable,
/// so no peer can make the table slow. The algorithm is the folded multiplication of wyhash. Throws what
/// std::random_device throws.
struct salted_hash {
  std::size_t operator()(std::uint64_t number) const {
    constexpr std::uint64_t odd = 0x9e37'79b9'7f4a'7c15;
    __extension__ using wide = unsigned __int128;
    const auto product = static_cast<wide>(number ^ hash_salt()) * (hash_salt() * 2 + odd * 2 + 1);
    return static_cast<std::size_t>(static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64));
  }
};

} // namespace troupe::detail
