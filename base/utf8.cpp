#include <troupe/base/utf8.hpp>

#include <cstdint>
#include <cstring>

#include <boost/locale/utf.hpp>

namespace troupe {

namespace {

namespace utf = boost::locale::utf;
using utf8 = utf::utf_traits<char>;

} // namespace

utf8_character first_character(std::string_view text) noexcept {
  const auto* at = text.data();
  const auto code = utf8::decode(at, text.data() + text.size());
  if (code == utf::illegal || code == utf::incomplete)
    return {};
  return {static_cast<std::size_t>(at - text.data()), static_cast<char32_t>(code)};
}

bool is_utf8(std::string_view text) noexcept {
  while (!text.empty()) {
    std::uint64_t eight = 0;
    if (text.size() >= sizeof(eight)) {
      std::memcpy(&eight, text.data(), sizeof(eight));
      if ((eight & 0x8080'8080'8080'8080) == 0) {
        text.remove_prefix(sizeof(eight));
        continue;
      }
    }
    const auto bytes = first_character(text).bytes;
    if (bytes == 0)
      return false;
    text.remove_prefix(bytes);
  }
  return true;
}

char* write_utf8(char32_t code, char* to) noexcept {
  return utf8::encode(static_cast<utf::code_point>(code), to);
}

} // namespace troupe
