// Values that may be handed over as they are within a process, and what they take.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <troupe/serializers/internal/shape/shapes.hpp>

namespace troupe::detail {

/// Whether a value means the same wherever it is: nothing in it that a codec translates for where it goes. `Above` as
/// in copyable().
template <class T, class... Above>
consteval bool self_contained() {
  constexpr auto of = shape_of<T>;
  if constexpr ((std::is_same_v<T, Above> || ... || false))
    return true;
  else if constexpr (requires { codec<T>::is_self_contained; })
    return codec<T>::is_self_contained;
  else if constexpr (of == shape::hook)
    return false; // It may do with the context whatever it likes.
  else if constexpr (of == shape::structure)
    return []<std::size_t... Index>(std::index_sequence<Index...>) {
      return (true && ... && self_contained<typename fields_of<T>::template type<Index>, T, Above...>());
    }
  (std::make_index_sequence<fields_of<T>::count>{});
  else if constexpr (of == shape::tuple) return []<std::size_t... Index>(std::index_sequence<Index...>) {
    return (true && ... && self_contained<std::remove_const_t<std::tuple_element_t<Index, T>>, T, Above...>());
  }
  (std::make_index_sequence<std::tuple_size_v<T>>{});
  else if constexpr (of == shape::variant) return []<std::size_t... Index>(std::index_sequence<Index...>) {
    return (true && ... && self_contained<std::variant_alternative_t<Index, T>, T, Above...>());
  }
  (std::make_index_sequence<std::variant_size_v<T>>{});
  else if constexpr (of == shape::fixed) return self_contained<typename fixed_extent<T>::element, T, Above...>();
  else if constexpr (of == shape::optional || of == shape::sequence
                     || of == shape::set) return self_contained<typename T::value_type, T, Above...>();
  else if constexpr (of == shape::map) return self_contained<typename T::key_type, T, Above...>()
      && self_contained<typename T::mapped_type, T, Above...>();
  else return of != shape::unique && of != shape::shared && of != shape::weak && of != shape::record
      && of != shape::unsupported;
}

/// Whose memory counts as held by a value.
enum class held : std::uint8_t {
  all,  ///< Also what it only views: frames and arrays.
  owned ///< What ends with it.
};

// What containers of nodes need beside each element, and what a path keeps of each of its parts.
inline constexpr std::size_t held_node_bytes = 32;
inline constexpr std::size_t held_part_bytes = 48;

/// What malloc takes for so much.
[[nodiscard]] constexpr std::size_t malloc_bytes(std::size_t size) {
  return (size + sizeof(std::size_t) + 15) / 16 * 16;
}

/// What frame::copy_of takes for so much: the bytes where they are aligned, and a block for their owner.
[[nodiscard]] constexpr std::size_t copied_bytes(std::size_t size) {
  constexpr auto aligned = frame::alignment_bytes;
  return size == 0 ? 0 : (size + aligned - 1) / aligned * aligned + 64;
}

/// Containers whose elements have nodes of their own.
template <class T>
inline constexpr bool has_nodes = !requires(const T& of) { of[0]; };

/// The memory that a self-contained value holds beside its own sizeof, roughly.
template <held Which, class T>
std::size_t held_bytes(const T& value) {
  constexpr auto of = shape_of<T>;
  auto of_all = [](const auto& parts, std::size_t beside_each = 0) {
    std::size_t total = 0;
    for (const auto& each : parts)
      total += (beside_each == 0 ? sizeof(each) : malloc_bytes(sizeof(each) + beside_each)) + held_bytes<Which>(each);
    return total;
  };
  auto of_some = [](const auto&... parts) { return (std::size_t{0} + ... + held_bytes<Which>(parts)); };
  if constexpr (fixed_bytes<T>() > 0)
    return 0;
  else if constexpr (requires { codec<T>::held_bytes(value); })
    return codec<T>::held_bytes(value);
  else if constexpr (of == shape::text)
    return value.size();
  else if constexpr (of == shape::path)
    return value.native().size()
           + held_part_bytes * static_cast<std::size_t>(std::ranges::count(value.native(), '/'));
  else if constexpr (of == shape::frame)
    return Which == held::all ? copied_bytes(value.size_bytes()) : 0;
  else if constexpr (of == shape::array)
    return Which == held::all && value.size() > 0 ? array_layout_bytes + copied_bytes(value.bytes().size_bytes()) : 0;
  else if constexpr (of == shape::numbers)
    return value.size() * sizeof(typename T::value_type);
  else if constexpr (of == shape::sequence)
    return of_all(value, has_nodes<T> ? held_node_bytes : 0);
  else if constexpr (of == shape::set || of == shape::map)
    return of_all(value, held_node_bytes);
  else if constexpr (of == shape::fixed)
    return of_all(value) - sizeof(value); // Its elements lie in it.
  else if constexpr (of == shape::optional)
    return value ? held_bytes<Which>(*value) : 0;
  else if constexpr (of == shape::tuple)
    return std::apply(of_some, value);
  else if constexpr (of == shape::variant)
    return value.valueless_by_exception() ? 0 : std::visit(of_some, value);
  else if constexpr (of == shape::structure)
    return [&]<std::size_t... Index>(std::index_sequence<Index...>) {
      return of_some(value.*std::get<Index>(fields_of<T>::members)...);
    }
  (std::make_index_sequence<fields_of<T>::count>{});
  else return 0;
}

} // namespace troupe::detail
