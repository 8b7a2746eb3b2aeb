#include <troupe/framework/internal/wire/message_extensions.hpp>

namespace troupe::internal {

namespace {

struct extension {
  std::uint64_t key = 0;
  bytes_view value;
};

extension next_extension(packet_reader& in) {
  extension result{.key = in.varint(), .value = {}};
  result.value = in.take(in.varint_up_to(extension_bytes_max));
  return result;
}

} // namespace

void append_extension(byte_vector& map, std::uint64_t key, bytes_view value) {
  append_varint(map, key);
  append_varint(map, value.size());
  map.insert(map.end(), value.begin(), value.end());
}

bool is_extension_map(bytes_view map) {
  if (map.empty() || map.size() > extension_bytes_max)
    return false;
  packet_reader in{map};
  std::uint64_t last = 0;
  while (in.ok() && !in.rest().empty()) {
    const auto next = next_extension(in);
    if (next.key <= last)
      return false;
    last = next.key;
  }
  return in.ok();
}

std::optional<bytes_view> find_extension(bytes_view map, std::uint64_t key) {
  packet_reader in{map};
  while (in.ok() && !in.rest().empty()) {
    const auto next = next_extension(in);
    if (in.ok() && next.key == key)
      return next.value;
  }
  return std::nullopt;
}

std::uint64_t value_bytes_of(bytes_view map) {
  const auto value =
      map.empty() ? std::nullopt : find_extension(map, static_cast<std::uint64_t>(extension_key::value_bytes));
  if (!value)
    return 0;
  packet_reader in{*value};
  const auto bytes = in.varint_up_to(value_bytes_max);
  return in.finished() ? bytes : value_bytes_max;
}

void append_value_bytes(byte_vector& map, std::uint64_t bytes) {
  byte_vector value;
  append_varint(value, bytes < value_bytes_max ? bytes : value_bytes_max);
  append_extension(map, static_cast<std::uint64_t>(extension_key::value_bytes), value);
}

} // namespace troupe::internal
