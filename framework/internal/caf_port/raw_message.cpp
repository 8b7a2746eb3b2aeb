#include <troupe/framework/internal/caf_port/raw_message.hpp>

#include <expected>
#include <span>
#include <utility>

#include <troupe/serializers/type_registry.hpp>

namespace troupe::internal {

namespace {

serialize_error no_codec_of_raw() {
  return {serialize_errc::not_supported, "a payload of another program's type is encoded already"};
}

template <class T>
void add_without_codec(type_registry& types, std::string alias) {
  types.add<T>(
      std::move(alias),
      [](const T&, const context&) -> std::expected<own_form, serialize_error> {
        return std::unexpected{no_codec_of_raw()};
      },
      [](std::span<const std::byte>, std::span<const frame>, const context&) -> std::expected<T, serialize_error> {
        return std::unexpected{no_codec_of_raw()};
      });
}

} // namespace

void add_raw_types(type_registry& types) {
  add_without_codec<raw_payload>(types, "troupe.raw_payload");
  add_without_codec<raw_message>(types, "troupe.raw_message");
}

const type_entry* raw_type(const type_registry& types) {
  return types.find<raw_payload>();
}

} // namespace troupe::internal
