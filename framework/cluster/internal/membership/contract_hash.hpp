// What tells members of different contracts apart.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace troupe::membership {

/// FNV-1a (Fowler, Noll and Vo) of the text, as 16 hexadecimal digits. It protects from nothing: an equal hash may be
/// made on purpose.
[[nodiscard]] inline std::string contract_hash(std::string_view contract) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const auto each : contract)
    hash = (hash ^ static_cast<unsigned char>(each)) * 0x100000001b3;
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text(16, '0');
  for (auto at = text.rbegin(); at != text.rend(); ++at, hash >>= 4)
    *at = digits[hash & 0xf];
  return text;
}

} // namespace troupe::membership
