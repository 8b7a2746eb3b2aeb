// How values of the store become bytes for clients (gateway.hpp declares the functions).
#include <bit>
#include <string>

#include <troupe/framework/gateway/gateway.hpp>
#include <troupe/serializers/serialize_calls.hpp>

namespace troupe::web {

namespace {

/// The type of an element as numpy writes it, such as "<f8".
std::string numpy_type(number_kind kind) {
  static_assert(std::endian::native == std::endian::little);
  const auto letter = name_of(kind).front();
  const auto bytes = size_of(kind);
  return (bytes == 1 ? "|" : "<") + std::string(1, letter) + std::to_string(bytes);
}

/// The head of numpy's format, version 1.0: magic bytes, the length of the text, and a text that describes the array.
/// The elements behind it begin at a multiple of 64 bytes.
std::string npy_head(number_kind kind, const std::vector<std::size_t>& shape) {
  constexpr std::size_t alignment = 64;
  constexpr std::size_t prefix = 10;
  std::string text = "{'descr': '" + numpy_type(kind) + "', 'fortran_order': False, 'shape': (";
  for (std::size_t i = 0; i < shape.size(); ++i)
    text += (i > 0 ? " " : "") + std::to_string(shape[i]) + ",";
  if (shape.size() > 1)
    text.pop_back(); // Only a single length needs the comma.
  text += "), }";
  text.append((alignment - (prefix + text.size() + 1) % alignment) % alignment, ' ');
  text += '\n';
  std::string head("\x93NUMPY\x01\x00", 8);
  head += static_cast<char>(text.size() & 0xff);
  head += static_cast<char>(text.size() >> 8);
  return head + text;
}

} // namespace

object_page array_page(const frame& elements, number_kind kind, bool is_bytes, const std::vector<std::size_t>& shape) {
  if (is_bytes)
    return {.head = {}, .bytes = elements, .content_type = "application/octet-stream"};
  return {.head = npy_head(kind, shape), .bytes = elements, .content_type = "application/x-npy"};
}

std::expected<object_page, node_error> value_page(std::type_index type, const void* value, const type_registry& types,
                                                  const family_set& families) {
  const auto* const entry = types.find(type);
  if (entry == nullptr)
    return std::unexpected{node_error{node_errc::unserializable, "the type of the object has no alias"}};
  auto encoded = serialize_entry(*entry, value, {.serializers = {"json"}}, types, families);
  if (!encoded)
    return std::unexpected{node_error{node_errc::unserializable, encoded.error().message()}};
  return object_page{.head = {}, .bytes = encoded->frames.front(), .content_type = "application/json"};
}

} // namespace troupe::web
