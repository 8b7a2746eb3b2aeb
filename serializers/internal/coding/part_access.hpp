// Access to the parts of values: a collection's elements, a variant's alternative.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <troupe/serializers/internal/coding/common.hpp>

namespace troupe {

class type_entry;

namespace detail {

struct part_type {
  std::string name; // Of a variant's alternative; empty for elements.
  std::shared_ptr<const type_entry> entry;
};

struct part_access {
  /// The types of the parts: one for lists, key and element for maps, the alternatives for variants.
  std::vector<part_type> types;
  /// The number of parts that are put at once: 2 for maps (key and element), else 1.
  std::size_t parts_at_once = 1;
  std::size_t part_bytes = 0; // The smallest memory of one part.
  /// Calls `visit` for each part, with the index of its type, until it returns false.
  void (*each)(const void* value, const std::function<bool(std::size_t type, const void* part)>& visit) = nullptr;
  void (*clear)(void* value) = nullptr;
  /// Makes room for that many parts. Null if the type cannot reserve room.
  void (*reserve)(void* value, std::size_t parts) = nullptr;
  /// Takes over decoded parts. False, with the failure set, if they cannot be put there, such as an equal key.
  bool (*put)(decoding& state, void* value, std::size_t type, std::span<void* const> parts) = nullptr;
  /// Whether a value is complete with that many parts.
  bool (*complete)(std::size_t parts) = nullptr;
};

/// Makes an entry for the type of a part, which is used if the registry has none. Defined where type_entry is known.
template <class Part>
std::shared_ptr<const type_entry> part_entry();

template <class T>
part_access list_access() {
  using element = typename T::value_type;
  part_access made;
  made.types.push_back({.name = "", .entry = part_entry<element>()});
  made.part_bytes = new_value_bytes<element>();
  made.each = [](const void* value, const std::function<bool(std::size_t, const void*)>& visit) {
    for (const auto& part : *static_cast<const T*>(value))
      if (!visit(0, &part))
        return;
  };
  made.clear = [](void* value) { static_cast<T*>(value)->clear(); };
  if constexpr (requires(T & target) { target.reserve(0); })
    made.reserve = [](void* value, std::size_t parts) { static_cast<T*>(value)->reserve(parts); };
  made.put = [](decoding& state, void* value, std::size_t, std::span<void* const> parts) {
    auto& target = *static_cast<T*>(value);
    auto& part = *static_cast<element*>(parts[0]);
    if constexpr (shape_of<T> == shape::sequence) {
      static_cast<void>(state); // No part is refused.
      target.push_back(std::move(part));
      return true;
    } else {
      return insert_once(state, target, std::move(part));
    }
  };
  made.complete = [](std::size_t) { return true; };
  return made;
}

template <class T>
part_access map_access() {
  using key_type = typename T::key_type;
  using mapped_type = typename T::mapped_type;
  part_access made;
  made.types.push_back({.name = "key", .entry = part_entry<key_type>()});
  made.types.push_back({.name = "", .entry = part_entry<mapped_type>()});
  made.parts_at_once = 2;
  made.part_bytes = new_value_bytes<typename T::value_type>() / 2;
  made.each = [](const void* value, const std::function<bool(std::size_t, const void*)>& visit) {
    for (const auto& [key, mapped] : *static_cast<const T*>(value))
      if (!visit(0, &key) || !visit(1, &mapped))
        return;
  };
  made.clear = [](void* value) { static_cast<T*>(value)->clear(); };
  made.put = [](decoding& state, void* value, std::size_t, std::span<void* const> parts) {
    return insert_once(state, *static_cast<T*>(value), std::move(*static_cast<key_type*>(parts[0])),
                       std::move(*static_cast<mapped_type*>(parts[1])));
  };
  made.complete = [](std::size_t parts) { return parts % 2 == 0; };
  return made;
}

template <class T, std::size_t... Index>
part_access variant_access(std::index_sequence<Index...>) {
  const auto& labels = variant_labels(static_cast<const T*>(nullptr));
  part_access made;
  (made.types.push_back({.name = labels[Index], .entry = part_entry<std::variant_alternative_t<Index, T>>()}), ...);
  made.part_bytes = sizeof(T);
  made.each = [](const void* value, const std::function<bool(std::size_t, const void*)>& visit) {
    const auto& variant = *static_cast<const T*>(value);
    if (!variant.valueless_by_exception())
      std::visit([&](const auto& part) { static_cast<void>(visit(variant.index(), &part)); }, variant);
  };
  made.clear = [](void*) {};
  made.put = [](decoding&, void* value, std::size_t type, std::span<void* const> parts) {
    return (false || ...
            || (Index == type
                && (static_cast<T*>(value)->template emplace<Index>(
                        std::move(*static_cast<std::variant_alternative_t<Index, T>*>(parts[0]))),
                    true)));
  };
  made.complete = [](std::size_t parts) { return parts == 1; };
  return made;
}

template <class T>
inline constexpr bool movable_parts = std::move_constructible<T>;
template <class... Options>
inline constexpr bool movable_parts<std::variant<Options...>> = (true && ... && std::move_constructible<Options>);

/// Returns the function that gives the access of T; null if T has no parts.
template <class T>
const part_access* (*part_access_of())() {
  constexpr auto of = shape_of<T>;
  if constexpr (of == shape::sequence || of == shape::set) {
    if constexpr (movable_parts<typename T::value_type> && !std::is_same_v<typename T::value_type, bool>)
      return [] {
        static const auto made = list_access<T>();
        return &made;
      };
  } else if constexpr (of == shape::map) {
    if constexpr (movable_parts<typename T::key_type> && movable_parts<typename T::mapped_type>)
      return [] {
        static const auto made = map_access<T>();
        return &made;
      };
  } else if constexpr (of == shape::variant) {
    if constexpr (movable_parts<T>)
      return [] {
        static const auto made = variant_access<T>(std::make_index_sequence<std::variant_size_v<T>>{});
        return &made;
      };
  }
  return nullptr;
}

} // namespace detail
} // namespace troupe
