// The memory of values that may be handed over unchanged within a process.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <troupe/serializers/internal/shape/type_answers.hpp>

namespace troupe::detail {

/// The memory that counts as held by a value.
enum class held : std::uint8_t {
  all,  ///< Including memory that the value only views: frames and arrays.
  owned ///< Only memory that is freed with the value.
};

// The memory that node-based containers need per element, and that a path needs per part, in addition to the content.
inline constexpr std::size_t held_node_bytes = 32;
inline constexpr std::size_t held_part_bytes = 48;

/// The memory that malloc takes for `size` bytes.
[[nodiscard]] constexpr std::size_t malloc_bytes(std::size_t size) {
  return (size + sizeof(std::size_t) + 15) / 16 * 16;
}

/// The memory that frame::copy_of takes for `size` bytes: the aligned bytes, and a block for their owner.
[[nodiscard]] constexpr std::size_t copied_bytes(std::size_t size) {
  constexpr auto aligned = frame::alignment_bytes;
  return size == 0 ? 0 : (size + aligned - 1) / aligned * aligned + 64;
}

/// Containers whose elements have nodes of their own.
template <class T>
inline constexpr bool has_nodes = !requires(const T& of) {
  of[0];
};

/// The memory of a part in the value that holds it, without the memory that the part itself holds.
template <class T, class Part>
consteval std::size_t place_bytes() {
  if constexpr (row_of<T>.parts == holding::in_place || shape_of<T> == shape::optional || shape_of<T> == shape::variant)
    return 0; // The part lies in the value.
  else if constexpr (shape_of<T> == shape::sequence && !has_nodes<T>)
    return sizeof(Part);
  else
    return malloc_bytes(sizeof(Part) + held_node_bytes);
}

/// The approximate memory that a self-contained value holds, beyond its own sizeof.
template <held Which, class T>
std::size_t held_bytes(const T& value) {
  constexpr auto of = shape_of<T>;
  if constexpr (fixed_bytes<T>() > 0)
    return 0;
  else if constexpr (requires { codec<T>::held_bytes(value); })
    return codec<T>::held_bytes(value);
  else if constexpr (holds_parts<T>) {
    std::size_t total = 0;
    each_part(value, [&]<class Part>(const Part& part) { total += place_bytes<T, Part>() + held_bytes<Which>(part); });
    return total;
  } else if constexpr (of == shape::text)
    return value.size();
  else if constexpr (of == shape::path)
    return value.native().size() + held_part_bytes * static_cast<std::size_t>(std::ranges::count(value.native(), '/'));
  else if constexpr (of == shape::frame)
    return Which == held::all ? copied_bytes(value.size_bytes()) : 0;
  else if constexpr (of == shape::array)
    return Which == held::all && value.size() > 0 ? array_layout_bytes + copied_bytes(value.bytes().size_bytes()) : 0;
  else if constexpr (of == shape::numbers)
    return value.size() * sizeof(typename T::value_type);
  else if constexpr (of == shape::unit || !row_of<T>.is_self_contained)
    return 0; // Holds nothing, or is never measured.
  else
    static_assert(no_such_shape<T>);
}

} // namespace troupe::detail
