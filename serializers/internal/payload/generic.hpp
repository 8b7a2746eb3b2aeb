// The codec that type_registry::register_generic makes: each attribute of a described type is encoded by itself.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include <troupe/base/export.hpp>
#include <troupe/serializers/internal/coding/part_access.hpp>

namespace troupe {

struct own_codec;
class type_entry;

} // namespace troupe

namespace troupe::detail {

struct attribute {
  std::string_view name;
  std::shared_ptr<const type_entry> entry; // Used if the registry has no entry for the type.
  const void* (*of)(const void* object) = nullptr;
  void* (*into)(void* object) = nullptr;
  /// Whether the value goes into the header.
  bool (*is_small)(const void* value) = nullptr;
};

[[nodiscard]] TROUPE_EXPORT own_codec generic_codec(std::vector<attribute> attributes);

template <class T>
bool is_small_attribute(const void* value) {
  constexpr std::size_t longest_text = 256;
  constexpr auto of = shape_of<T>;
  if constexpr (of == shape::text)
    return static_cast<const T*>(value)->size() <= longest_text;
  else
    return fixed_bytes<T>() > 0 && fixed_bytes<T>() <= longest_text;
}

template <class T, std::size_t Index>
attribute attribute_of() {
  using type = typename fields_of<T>::template type<Index>;
  return {
      .name = fields_of<T>::names[Index],
      .entry = part_entry<type>(),
      .of = [](const void* object) -> const void* {
        return &(static_cast<const T*>(object)->*std::get<Index>(fields_of<T>::members));
      },
      .into = [](void* object) -> void* { return &(static_cast<T*>(object)->*std::get<Index>(fields_of<T>::members)); },
      .is_small = &is_small_attribute<type>};
}

template <class T>
std::vector<attribute> attributes_of() {
  return []<std::size_t... Index>(std::index_sequence<Index...>) {
    return std::vector<attribute>{attribute_of<T, Index>()...};
  }
  (std::make_index_sequence<fields_of<T>::count>{});
}

} // namespace troupe::detail
