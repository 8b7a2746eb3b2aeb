#include <troupe/store/object_id.hpp>

namespace troupe::store {

namespace {

[[nodiscard]] std::string hexadecimal(std::uint64_t number) {
  constexpr auto* digits = "0123456789abcdef";
  auto text = std::string(16, '0');
  for (auto at = text.rbegin(); at != text.rend(); ++at, number >>= 4)
    *at = digits[number & 15];
  return text;
}

} // namespace

std::string to_string(const object_id& id) {
  return hexadecimal(id.store) + "-" + std::to_string(id.index) + "-" + std::to_string(id.generation);
}

std::string to_string(const process_id& id) {
  return std::to_string(id.slot) + "-" + hexadecimal(id.nonce);
}

} // namespace troupe::store
