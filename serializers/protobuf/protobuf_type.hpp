// add_protobuf: registers a generated message for the family "protobuf". Includes protobuf's headers. Link
// troupe::protobuf, and include this header only where types are registered.
#pragma once

#include <concepts>
#include <memory>
#include <string>
#include <utility>

#include <google/protobuf/message.h>

#include <troupe/serializers/protobuf/protobuf_costs.hpp>
#include <troupe/serializers/protobuf/protobuf_family.hpp>
#include <troupe/serializers/serializable.hpp>
#include <troupe/serializers/type_registry.hpp>

namespace troupe {

/// A class that protoc generated with descriptors, not one of the "lite" runtime.
template <class T>
concept protobuf_message =
    std::derived_from<T, google::protobuf::Message> && std::default_initializable<T> && requires {
  { T::descriptor() } -> std::same_as<const google::protobuf::Descriptor*>;
};

/// Messages travel whole; other types do not travel.
template <>
struct carriage_rule<protobuf_family> {
  template <class T>
  static constexpr carriage of = protobuf_message<T> ? carriage::whole : carriage::refused;
};

/// Does the same as `types.add<T>(alias)`, and lets the family "protobuf" carry the type. Inside values of other
/// families, such as a described struct with a message as a member, the message travels as its bytes (by
/// type_registry::register_serializer, with a list of bytes as the form). It also does so alone if another family comes
/// first in the list. Throws as type_registry::add() does.
///
///     troupe::add_protobuf<shop::order>(types, "shop.order");
template <protobuf_message T>
void add_protobuf(type_registry& types, std::string alias) {
  types.add<T>(std::move(alias));
  const auto* entry = types.find<T>();
  if (entry == nullptr) // Never, since add() throws if it does not add the type.
    return;
  const auto costs = std::make_shared<const detail::protobuf_costs>(*T::descriptor());
  entry->attach(std::make_shared<protobuf_functions>(
      [](const void* value) -> const google::protobuf::Message& { return *static_cast<const T*>(value); },
      [](void* target) -> google::protobuf::Message& { return *static_cast<T*>(target); }, costs));
  types.register_serializer<T>(
      [costs](const T& value, const context& ctx) { return detail::protobuf_bytes(value, *costs, ctx); },
      [costs](std::vector<std::byte>&& bytes, const context& ctx) -> std::expected<T, serialize_error> {
        T value;
        if (auto read = detail::read_protobuf(value, bytes, *costs, ctx); !read)
          return std::unexpected(std::move(read.error()));
        return value;
      });
}

} // namespace troupe
