// The properties of types for readers and writers. Each is in the row of the type's shape, or follows from the type's
// parts.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>

#include <troupe/serializers/internal/shape/parts.hpp>

namespace troupe::detail {

/// Whether a value of this type may look like an empty optional. If so, an optional of the type needs a shell.
template <class T>
consteval bool nullable() {
  if constexpr (shape_of<T> == shape::hook)
    return nullable<typename hook<T>::form>();
  else
    return row_of<T>.looks_absent;
}

/// Whether every value of the type travels as one text.
template <class T>
consteval bool travels_as_text() {
  if constexpr (shape_of<T> == shape::hook)
    return travels_as_text<typename hook<T>::form>();
  else
    return row_of<T>.is_text || described_enum<T>;
}

/// Maps whose keys travel as texts and are all different.
template <class T>
consteval bool text_keyed() {
  return travels_as_text<typename T::key_type>() && requires(T & map) {
    map.emplace(std::declval<typename T::key_type>(), std::declval<typename T::mapped_type>()).second;
  };
}

struct copies {
  template <class T>
  static consteval verdict of() {
    if constexpr (std::is_bounded_array_v<T>)
      return verdict::by_parts; // An array member is copied with its class.
    else if constexpr (!std::is_copy_constructible_v<T>)
      return verdict::no;
    else
      return holds_parts<T> ? verdict::by_parts : verdict::yes;
  }
};

/// Whether copies compile. Containers, variants and arrays claim to be copyable whatever their elements are. Therefore
/// the elements are checked.
template <class T>
consteval bool copyable() {
  return !std::is_array_v<T> && passes<copies, T>();
}

/// Whether the type has a part that has to be put into its place, but can neither be moved nor copied.
template <class T>
consteval bool holds_unmovable() {
  if constexpr (row_of<T>.parts == holding::put_in)
    return []<class... Parts>(part_list<Parts...>) {
      return !(true && ... && std::is_move_constructible_v<typename Parts::type>);
    }(parts_of<T>());
  else
    return false;
}

/// The size on the `typed` wire if it is the same for all values and writing needs no state; else 0.
template <class T>
consteval std::size_t fixed_bytes() {
  constexpr auto of = shape_of<T>;
  if constexpr (of == shape::boolean || of == shape::number || of == shape::enumeration)
    return sizeof(T);
  else if constexpr (row_of<T>.parts == holding::in_place)
    return []<class... Parts>(part_list<Parts...>) {
      constexpr bool all_fixed = (true && ... && (fixed_bytes<typename Parts::type>() > 0));
      return all_fixed ? times_each<T> * (std::size_t{0} + ... + fixed_bytes<typename Parts::type>()) : 0;
    }(parts_of<T>());
  else
    return 0;
}

/// The size of the run of fixed-size fields that starts at Index; 0 if no run starts there.
template <class T, std::size_t Index>
consteval std::size_t run_bytes() {
  constexpr auto sizes = []<std::size_t... I>(std::index_sequence<I...>) {
    return std::array<std::size_t, sizeof...(I)>{fixed_bytes<typename fields_of<T>::template type<I>>()...};
  }
  (std::make_index_sequence<fields_of<T>::count>{});
  if (Index > 0 && sizes[Index - 1] > 0)
    return 0;
  std::size_t total = 0;
  for (auto i = Index; i < sizes.size() && sizes[i] > 0; ++i)
    total += sizes[i];
  return total;
}

/// The smallest size of a value in the body of `typed`; 0 if it may lie only in frames, or be empty.
template <class T>
consteval std::size_t least_bytes() {
  if constexpr (fixed_bytes<T>() > 0)
    return fixed_bytes<T>();
  else if constexpr (shape_of<T> == shape::structure || row_of<T>.parts == holding::form)
    return []<class... Parts>(part_list<Parts...>) {
      return (std::size_t{0} + ... + least_bytes<typename Parts::type>());
    }(parts_of<T>());
  else
    return row_of<T>.least_bytes;
}

/// Whether a value may contain a user's class whose members are not empty when constructed.
template <class T>
consteval bool may_begin_filled() {
  if constexpr (fixed_bytes<T>() > 0 || !std::is_default_constructible_v<T>)
    return false;
  else if constexpr (row_of<T>.begins_filled == verdict::by_parts)
    return []<class... Parts>(part_list<Parts...>) {
      return (false || ... || may_begin_filled<std::remove_const_t<typename Parts::type>>());
    }(parts_of<T>());
  else
    return row_of<T>.begins_filled == verdict::yes;
}

struct self_contained_rule {
  template <class T>
  static consteval verdict of() {
    if constexpr (requires { codec<T>::is_self_contained; })
      return codec<T>::is_self_contained ? verdict::yes : verdict::no;
    else if constexpr (holds_parts<T>)
      return verdict::by_parts;
    else
      return row_of<T>.is_self_contained ? verdict::yes : verdict::no;
  }
};

/// Whether a value means the same everywhere: it contains nothing that a codec translates for its destination.
template <class T>
consteval bool self_contained() {
  return passes<self_contained_rule, T>();
}

} // namespace troupe::detail
