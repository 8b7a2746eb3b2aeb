// What tells members of different contracts apart.
#pragma once

#include <string>
#include <string_view>

#include <troupe/base/fnv1a.hpp>

namespace troupe::membership {

/// FNV-1a of the text, as 16 hexadecimal digits. It protects from nothing: an equal hash may be
/// made on purpose.
[[nodiscard]] inline std::string contract_hash(std::string_view contract) {
  auto hash = detail::fnv1a(contract);
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text(16, '0');
  for (auto at = text.rbegin(); at != text.rend(); ++at, hash >>= 4)
    *at = digits[hash & 0xf];
  return text;
}

} // namespace troupe::membership
