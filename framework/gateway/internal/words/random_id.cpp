#include <troupe/framework/gateway/internal/words/random_id.hpp>

#include <array>
#include <cstddef>
#include <string_view>

#include <sys/random.h>

namespace troupe::web {

// The kernel's generator cannot fail for so few bytes.
std::string random_id() {
  std::array<unsigned char, 16> bytes{};
  std::size_t got = 0;
  while (got < bytes.size())
    if (const auto count = ::getrandom(bytes.data() + got, bytes.size() - got, 0); count > 0)
      got += static_cast<std::size_t>(count);
  constexpr std::string_view digits = "0123456789abcdef";
  std::string id;
  for (const auto byte : bytes)
    id.append({digits[byte >> 4], digits[byte & 0xf]});
  return id;
}

} // namespace troupe::web
