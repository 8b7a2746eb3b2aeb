#include <troupe/framework/cluster/internal/etcd/base64.hpp>

#include <array>
#include <cstdint>

namespace troupe::cluster_directories {

namespace {

constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::uint8_t no_digit = 64;

constexpr std::array<std::uint8_t, 256> digits = [] {
  std::array<std::uint8_t, 256> table{};
  table.fill(no_digit);
  for (std::size_t each = 0; each < alphabet.size(); ++each)
    table[static_cast<unsigned char>(alphabet[each])] = static_cast<std::uint8_t>(each);
  return table;
}();

} // namespace

std::string base64_of(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const auto group = bytes.substr(at, 3);
    std::uint32_t bits = 0;
    for (std::size_t each = 0; each < 3; ++each)
      bits = bits << 8 | (each < group.size() ? static_cast<unsigned char>(group[each]) : 0u);
    for (std::size_t each = 0; each < 4; ++each)
      text.push_back(each <= group.size() ? alphabet[bits >> (18 - 6 * each) & 63] : '=');
  }
  return text;
}

std::optional<std::string> bytes_of_base64(std::string_view text) {
  if (text.size() % 4 != 0)
    return std::nullopt;
  const auto padding = text.ends_with("==") ? 2u : text.ends_with('=') ? 1u : 0u;
  const auto digits_end = text.size() - padding;
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  std::uint32_t bits = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto digit = at < digits_end ? digits[static_cast<unsigned char>(text[at])] : std::uint8_t{0};
    if (digit == no_digit)
      return std::nullopt;
    bits = bits << 6 | digit;
    if (at % 4 == 3) {
      bytes.push_back(static_cast<char>(bits >> 16 & 255));
      bytes.push_back(static_cast<char>(bits >> 8 & 255));
      bytes.push_back(static_cast<char>(bits & 255));
    }
  }
  for (auto each = padding; each > 0; --each) {
    if (bytes.back() != '\0') // Bits that belong to no byte.
      return std::nullopt;
    bytes.pop_back();
  }
  return bytes;
}

} // namespace troupe::cluster_directories
