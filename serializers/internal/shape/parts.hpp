// The parts of a type, one level down, and the obstacles of a type by itself. All code that walks over types, with or
// without a value, uses them. Exactly the types that layout_of() refuses must have an obstacle.
#pragma once

#include <cstddef>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include <troupe/serializers/internal/shape/shape_table.hpp>

namespace troupe::detail {

/// The way from a type to one of its parts.
enum class step {
  inside,   // The value of an optional, the form of a type: not a place of its own.
  field,    // ".name"
  pointee,  // "->"
  option,   // "<label>" of a variant
  position, // "<2>" of a tuple
  element,  // "[]"
  key,      // "{key}"
  mapped,   // "{}"
};

template <class T, step Way, std::size_t Index = 0>
struct part {
  using type = T;
  static constexpr auto way = Way;
  static constexpr auto index = Index;
};

template <class... Parts>
struct part_list {};

template <class T, std::size_t... Index>
part_list<part<typename fields_of<T>::template type<Index>, step::field, Index>...>
    field_parts(std::index_sequence<Index...>);
template <class T, std::size_t... Index>
part_list<part<std::variant_alternative_t<Index, T>, step::option, Index>...>
    option_parts(std::index_sequence<Index...>);
template <class T, std::size_t... Index>
part_list<part<std::tuple_element_t<Index, T>, step::position, Index>...> position_parts(std::index_sequence<Index...>);

// Objects behind pointers to a class of which no object can be made always travel under the alias of a derived class.
template <class Pointee>
constexpr auto pointee_parts() {
  if constexpr (may_be_derived<Pointee> && !makeable<Pointee>())
    return part_list<>();
  else
    return part_list<part<Pointee, step::pointee>>();
}

template <class T>
constexpr auto find_parts() {
  constexpr auto of = shape_of<T>;
  if constexpr (of == shape::hook)
    return part_list<part<typename hook<T>::form, step::inside>>();
  else if constexpr (of == shape::structure)
    return decltype(field_parts<T>(std::make_index_sequence<fields_of<T>::count>()))();
  else if constexpr (of == shape::duration || of == shape::time_point)
    return part_list<part<typename T::rep, step::inside>>();
  else if constexpr (of == shape::optional)
    return part_list<part<typename T::value_type, step::inside>>();
  else if constexpr (of == shape::unique || of == shape::shared || of == shape::weak)
    return pointee_parts<std::remove_const_t<typename T::element_type>>();
  else if constexpr (of == shape::variant)
    return decltype(option_parts<T>(std::make_index_sequence<std::variant_size_v<T>>()))();
  else if constexpr (of == shape::tuple)
    return decltype(position_parts<T>(std::make_index_sequence<std::tuple_size_v<T>>()))();
  else if constexpr (of == shape::fixed)
    return part_list<part<typename fixed_extent<T>::element, step::element>>();
  else if constexpr (of == shape::sequence || of == shape::set)
    return part_list<part<typename T::value_type, step::element>>();
  else if constexpr (of == shape::map)
    return part_list<part<typename T::key_type, step::key>, part<typename T::mapped_type, step::mapped>>();
  else {
    static_assert(row_of<T>.parts == holding::none, "a shape with parts that find_parts does not list");
    return part_list<>();
  }
}

template <class T>
using parts_of = decltype(find_parts<T>());

/// The number of times that each part occurs in a value that has its parts in place.
template <class T>
inline constexpr std::size_t times_each = 1;
template <class T>
requires(shape_of<T> == shape::fixed) inline constexpr std::size_t times_each<T> = fixed_extent<T>::count;

/// Calls `visit` with each part of the value. Requires: holds_parts<T>.
template <class T>
void each_part(const T& value, auto&& visit) {
  constexpr auto of = shape_of<T>;
  static_assert(holds_parts<T>);
  if constexpr (of == shape::structure) {
    [&]<std::size_t... Index>(std::index_sequence<Index...>) {
      (visit(value.*std::get<Index>(fields_of<T>::members)), ...);
    }
    (std::make_index_sequence<fields_of<T>::count>{});
  } else if constexpr (of == shape::duration) {
    visit(value.count());
  } else if constexpr (of == shape::time_point) {
    visit(value.time_since_epoch().count());
  } else if constexpr (of == shape::optional) {
    if (value)
      visit(*value);
  } else if constexpr (of == shape::variant) {
    if (!value.valueless_by_exception())
      std::visit(visit, value);
  } else if constexpr (of == shape::tuple) {
    std::apply([&](const auto&... parts) { (visit(parts), ...); }, value);
  } else if constexpr (of == shape::fixed || of == shape::sequence || of == shape::set || of == shape::map) {
    for (const auto& part : value)
      visit(part);
  } else {
    static_assert(no_such_shape<T>);
  }
}

/// Whether a type and all its parts pass. `Rule::of<T>()` is the verdict on a type alone. `Above` are the enclosing
/// types that are already being checked, for types that contain themselves.
template <class Rule, class T, class... Above>
consteval bool passes();

template <class Rule, class... Above, class... Parts>
consteval bool all_pass(part_list<Parts...>) {
  return (true && ... && passes<Rule, typename Parts::type, Above...>());
}

template <class Rule, class T, class... Above>
consteval bool passes() {
  if constexpr ((std::is_same_v<T, Above> || ... || false))
    return true;
  else if constexpr (Rule::template of<T>() == verdict::by_parts)
    return all_pass<Rule, T, Above...>(parts_of<T>());
  else
    return Rule::template of<T>() == verdict::yes;
}

/// The reason why a type cannot travel by description, whatever its parts are.
enum class obstacle {
  none,
  reference,
  qualified,        // const or volatile: cannot be read into.
  function,         // or a pointer to a function or a member.
  pointer,          // raw
  pointer_to_array, // unique_ptr<T[]>, shared_ptr<T[]>
  deleter,          // unique_ptr with a deleter of its own
  a_union,          //
  abstract,         //
  no_default,       // has no default constructor
  not_described,    // any other class
};

template <class T>
inline constexpr bool is_pointer_to_array = false;
template <class T, class Deleter>
inline constexpr bool is_pointer_to_array<std::unique_ptr<T[], Deleter>> = true;
template <class T>
inline constexpr bool is_pointer_to_array<std::shared_ptr<T>> = std::is_array_v<T>;
template <class T>
inline constexpr bool is_pointer_to_array<std::weak_ptr<T>> = std::is_array_v<T>;
template <class T>
inline constexpr bool is_unique = false;
template <class T, class Deleter>
inline constexpr bool is_unique<std::unique_ptr<T, Deleter>> = true;

template <class T>
consteval obstacle find_obstacle() {
  if constexpr (std::is_reference_v<T>)
    return obstacle::reference;
  else if constexpr (std::is_function_v<
                         T> || std::is_function_v<std::remove_pointer_t<T>> || std::is_member_pointer_v<T>)
    return obstacle::function;
  else if constexpr (std::is_const_v<T> || std::is_volatile_v<T>)
    return obstacle::qualified;
  else if constexpr (shape_of<T> == shape::hook || std::is_bounded_array_v<T>)
    return obstacle::none;
  else if constexpr (std::is_abstract_v<T>)
    return obstacle::abstract;
  else if constexpr (shape_of<T> != shape::unsupported)
    return std::is_default_constructible_v<T> ? obstacle::none : obstacle::no_default;
  else if constexpr (std::is_pointer_v<T>)
    return obstacle::pointer;
  else if constexpr (is_pointer_to_array<T>)
    return obstacle::pointer_to_array;
  else if constexpr (is_unique<T>)
    return obstacle::deleter;
  else if constexpr (std::is_union_v<T>)
    return obstacle::a_union;
  else
    return obstacle::not_described;
}

template <class T>
inline constexpr obstacle obstacle_of = find_obstacle<T>();

struct unhindered {
  template <class T>
  static consteval verdict of() {
    return obstacle_of<T> == obstacle::none ? verdict::by_parts : verdict::no;
  }
};

/// Whether the type, or anything in it, cannot travel by description.
template <class T>
consteval bool is_hindered() {
  return !passes<unhindered, T>();
}

} // namespace troupe::detail
