// The shape of a C++ type, which alone decides how readers and writers of all families handle the type.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <concepts>
#include <memory>
#include <optional>
#include <ratio>
#include <string>
#include <tuple>
#include <type_traits>
#include <typeindex>
#include <utility>
#include <variant>
#include <vector>

#include <troupe/serializers/array.hpp>
#include <troupe/serializers/codec.hpp>
#include <troupe/serializers/describe.hpp>
#include <troupe/serializers/internal/words/type_text.hpp>
#include <troupe/serializers/number.hpp>

namespace troupe {

class record;

} // namespace troupe

namespace troupe::detail {

enum class shape {
  hook,        // codec<T> or reduce/rebuild: travels as another type
  structure,   // TROUPE_DESCRIBE
  enumeration, // with or without names
  boolean,
  number,
  text,       // std::string
  path,       // std::filesystem::path
  duration,   // std::chrono
  time_point, // std::chrono
  unit,       // std::monostate
  optional,
  unique, // std::unique_ptr
  shared, // std::shared_ptr
  weak,   // std::weak_ptr
  variant,
  tuple, // std::tuple, std::pair
  fixed, // std::array, built-in arrays
  frame,
  array,       // troupe::array
  numbers,     // std::vector of numbers
  sequence,    // vector, list, deque and similar types
  set,         // set, unordered_set and their multi forms
  map,         // map, unordered_map and their multi forms
  record,      // troupe::record
  unsupported, // must be last
};

/// std::filesystem::path, recognized by its members, because its header is large and only programs with paths need it.
template <class T>
concept path_like = std::is_class_v<T> && requires(const T& path) {
  typename T::string_type;
  { path.native() } -> std::same_as<const typename T::string_type&>;
  { path.lexically_normal() } -> std::same_as<T>;
};

template <class T>
inline constexpr shape special_shape = shape::unsupported;
template <class... Rest>
inline constexpr shape special_shape<std::basic_string<char, Rest...>> = shape::text;
template <path_like T>
inline constexpr shape special_shape<T> = shape::path;
template <class Rep, class Period>
inline constexpr shape special_shape<std::chrono::duration<Rep, Period>> =
    numeric<Rep> ? shape::duration : shape::unsupported;
template <class Clock, class Duration>
inline constexpr shape special_shape<std::chrono::time_point<Clock, Duration>> =
    numeric<typename Duration::rep> ? shape::time_point : shape::unsupported;
template <>
inline constexpr shape special_shape<std::monostate> = shape::unit;
template <class T>
inline constexpr shape special_shape<std::optional<T>> = shape::optional;
template <class T>
inline constexpr bool is_pointee = std::is_object_v<T> && !std::is_array_v<T> && !std::is_volatile_v<T>;
template <class T>
inline constexpr shape special_shape<std::unique_ptr<T>> = is_pointee<T> ? shape::unique : shape::unsupported;
template <class T>
inline constexpr shape special_shape<std::shared_ptr<T>> = is_pointee<T> ? shape::shared : shape::unsupported;
template <class T>
inline constexpr shape special_shape<std::weak_ptr<T>> = is_pointee<T> ? shape::weak : shape::unsupported;
template <class... Options>
inline constexpr shape special_shape<std::variant<Options...>> = shape::variant;
template <class... Parts>
inline constexpr shape special_shape<std::tuple<Parts...>> = shape::tuple;
template <class First, class Second>
inline constexpr shape special_shape<std::pair<First, Second>> = shape::tuple;
template <class T, std::size_t Count>
inline constexpr shape special_shape<std::array<T, Count>> = shape::fixed;
template <class T, std::size_t Count>
inline constexpr shape special_shape<T[Count]> = shape::fixed;
template <>
inline constexpr shape special_shape<troupe::frame> = shape::frame;
template <class T>
inline constexpr shape special_shape<troupe::array<T>> = shape::array;
template <>
inline constexpr shape special_shape<troupe::record> = shape::record;
template <class T, class... Rest>
inline constexpr shape special_shape<std::vector<T, Rest...>> = numeric<T> ? shape::numbers : shape::sequence;

template <class T>
concept map_like = requires(T& container, const T& constant) {
  typename T::mapped_type;
  constant.begin();
  constant.size();
  container.emplace(std::declval<typename T::key_type>(), std::declval<typename T::mapped_type>());
};
template <class T>
concept set_like = requires(T& container, const T& constant) {
  typename T::key_type;
  constant.begin();
  constant.size();
  container.insert(std::declval<typename T::key_type>());
};
template <class T>
concept sequence_like = requires(T& container, const T& constant) {
  constant.begin();
  constant.size();
  container.clear();
  container.push_back(std::declval<typename T::value_type>());
};

template <class T>
consteval shape find_shape() {
  if constexpr (std::is_const_v<T> || std::is_volatile_v<T>)
    return shape::unsupported; // The type cannot be read into.
  else if constexpr (hooked<T>)
    return shape::hook;
  else if constexpr (described<T>)
    return shape::structure;
  else if constexpr (std::is_same_v<T, bool>)
    return shape::boolean;
  else if constexpr (numeric<T>)
    return shape::number;
  else if constexpr (std::is_enum_v<T>)
    return shape::enumeration;
  else if constexpr (special_shape<T> != shape::unsupported)
    return special_shape<T>;
  else if constexpr (map_like<T>)
    return shape::map;
  else if constexpr (set_like<T>)
    return shape::set;
  else if constexpr (sequence_like<T>)
    return shape::sequence;
  else
    return shape::unsupported;
}

template <class T>
inline constexpr shape shape_of = find_shape<T>();

/// Whether pointers to the class may point to objects of derived classes, which are then named by their alias.
template <class T>
inline constexpr bool may_be_derived = std::is_polymorphic_v<T> && !std::is_final_v<T>;

/// Whether a value of exactly this class can be made. Other classes, such as abstract ones, stand for derived classes.
template <class T>
consteval bool makeable() {
  constexpr auto of = shape_of<T>;
  return !std::is_abstract_v<T> && of != shape::unsupported
         && (std::is_default_constructible_v<T> || of == shape::hook);
}

template <class T>
inline constexpr bool is_byte =
    std::is_same_v<T, std::byte> || std::is_same_v<T, unsigned char> || std::is_same_v<T, char>;

template <class T>
struct fixed_extent; // Element type and count of std::array and built-in arrays.
template <class T, std::size_t Count>
struct fixed_extent<std::array<T, Count>> {
  using element = T;
  static constexpr std::size_t count = Count;
};
template <class T, std::size_t Count>
struct fixed_extent<T[Count]> {
  using element = T;
  static constexpr std::size_t count = Count;
};

template <class Period>
inline const std::string period_text = std::to_string(Period::num) + "/" + std::to_string(Period::den);

template <class Clock>
std::string clock_name() {
  if constexpr (std::is_same_v<Clock, std::chrono::system_clock>)
    return "system clock";
  else if constexpr (std::is_same_v<Clock, std::chrono::steady_clock>)
    return "steady clock";
  else
    return portable_type_text(typeid(Clock));
}

/// The unit of a duration or a point in time.
template <class T>
const std::string& unit_of() {
  if constexpr (shape_of<T> == shape::duration) {
    return period_text<typename T::period>;
  } else {
    static const auto text = clock_name<typename T::clock>() + " " + period_text<typename T::period>;
    return text;
  }
}

} // namespace troupe::detail
