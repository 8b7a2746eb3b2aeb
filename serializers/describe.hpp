// TROUPE_DESCRIBE: lists a type's fields once, for every family.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <troupe/serializers/internal/shape/describe_macros.hpp>

/// Describes a struct, outside of the struct and in its namespace: `TROUPE_DESCRIBE(reading, sensor, celsius,
/// samples)`. If a field of a plain aggregate is left out, the program does not compile.
#define TROUPE_DESCRIBE(Type, ...)                                                                                     \
  [[maybe_unused]] constexpr auto troupe_description(::troupe::describe_tag<Type>) {                                   \
    return TROUPE_DETAIL_DESCRIPTION(Type, ::troupe::bases<>, __VA_ARGS__);                                            \
  }

/// Describes a class from inside, at any place in the class, with access to private members. Also for class templates.
#define TROUPE_DESCRIBE_INSIDE(Type, ...)                                                                              \
  [[maybe_unused]] friend constexpr auto troupe_description(::troupe::describe_tag<Type>) {                            \
    return TROUPE_DETAIL_DESCRIPTION(Type, ::troupe::bases<>, __VA_ARGS__);                                            \
  }

/// Describes a struct with described bases, in parentheses: `TROUPE_DESCRIBE_DERIVED(circle, (shape, named), radius)`.
/// The fields of the bases come first and count as the type's own.
#define TROUPE_DESCRIBE_DERIVED(Type, Bases, ...)                                                                      \
  [[maybe_unused]] constexpr auto troupe_description(::troupe::describe_tag<Type>) {                                   \
    return TROUPE_DETAIL_DESCRIPTION(Type, TROUPE_DETAIL_BASES Bases, __VA_ARGS__);                                    \
  }
#define TROUPE_DESCRIBE_DERIVED_INSIDE(Type, Bases, ...)                                                               \
  [[maybe_unused]] friend constexpr auto troupe_description(::troupe::describe_tag<Type>) {                            \
    return TROUPE_DETAIL_DESCRIPTION(Type, TROUPE_DETAIL_BASES Bases, __VA_ARGS__);                                    \
  }

/// Describes an enum. A described enum is closed: a value without a name here is an error on both sides. If two
/// versions number the values differently, the names decide. Do not describe sets of flags: they travel as numbers.
#define TROUPE_DESCRIBE_ENUM(Type, ...)                                                                                \
  [[maybe_unused]] constexpr auto troupe_description(::troupe::describe_tag<Type>) {                                   \
    return TROUPE_DETAIL_ENUM_DESCRIPTION(Type, __VA_ARGS__);                                                          \
  }
#define TROUPE_DESCRIBE_ENUM_INSIDE(Type, ...)                                                                         \
  [[maybe_unused]] friend constexpr auto troupe_description(::troupe::describe_tag<Type>) {                            \
    return TROUPE_DETAIL_ENUM_DESCRIPTION(Type, __VA_ARGS__);                                                          \
  }

namespace troupe {

/// Names a type to overload resolution, without a conversion to its bases, because a description is never inherited.
template <class T>
struct describe_tag {};

template <class... Bases>
struct bases {};

/// The result of the macros for a struct: the struct's spelled name, and a pointer and a name for each of its own
/// fields.
template <class T, class Bases, auto... Members>
struct description {
  std::string_view name;
  std::array<std::string_view, sizeof...(Members)> names;
};

/// The result of the macro for an enum.
template <class T, auto... Values>
struct enum_description {
  std::string_view name;
  std::array<std::string_view, sizeof...(Values)> names;
  static constexpr std::array<T, sizeof...(Values)> values{Values...};
};

namespace detail {

template <class T>
concept has_description = requires {
  troupe_description(describe_tag<T>{});
};

} // namespace detail

/// A struct with TROUPE_DESCRIBE.
template <class T>
concept described = std::is_class_v<T> && detail::has_description<T>;
/// An enum with TROUPE_DESCRIBE_ENUM.
template <class T>
concept described_enum = std::is_enum_v<T> && detail::has_description<T>;

namespace detail {

// An argument that converts to any type except T itself and its bases. The number of these arguments that an aggregate
// accepts is the number of its fields. Converts by value, so that members that can neither be copied nor moved are
// constructed in place.
template <class T>
struct any_field {
  template <class U>
  requires(!std::same_as<U, T> && !std::is_base_of_v<U, T>) constexpr
  operator U() const noexcept { // Never called; without a body, g++ warns.
    std::unreachable();
  }
};

template <class T, std::size_t... Index>
constexpr bool takes_fields(std::index_sequence<Index...>) {
  return requires {
    T{(static_cast<void>(Index), any_field<T>{})...};
  };
}

// A built-in array has no initializer of its own: each of its elements takes an argument.
template <class Member>
inline constexpr std::size_t initializers_of = 1;
template <class Element, std::size_t Count>
inline constexpr std::size_t initializers_of<Element[Count]> = Count* initializers_of<Element>;

template <class Pointer>
struct member_type;
template <class Class, class Member>
struct member_type<Member Class::*> {
  using type = Member;
};

template <class T, auto... Members>
constexpr bool forgets_a_field() {
  if constexpr (!std::is_aggregate_v<T>) {
    return false; // Private members, constructors or bases: the type may leave fields out.
  } else {
    constexpr std::size_t named = (0 + ... + initializers_of<typename member_type<decltype(Members)>::type>);
    return takes_fields<T>(std::make_index_sequence<named + 1>{});
  }
}

template <std::size_t... Sizes>
constexpr auto joined(const std::array<std::string_view, Sizes>&... parts) {
  std::array<std::string_view, (0 + ... + Sizes)> all{};
  std::size_t at = 0;
  [[maybe_unused]] const auto add = [&](const auto& part) {
    for (const auto name : part)
      all[at++] = name;
  };
  (add(parts), ...);
  return all;
}

template <std::size_t Size>
constexpr bool all_differ(const std::array<std::string_view, Size>& names) {
  for (std::size_t i = 0; i < Size; ++i)
    for (std::size_t j = i + 1; j < Size; ++j)
      if (names[i] == names[j])
        return false;
  return true;
}

template <class Description>
struct flatten;

} // namespace detail

/// The fields of a described struct, those of its bases first: `names`, `members` (pointers to members), `count`.
template <described T>
using fields_of = detail::flatten<decltype(troupe_description(describe_tag<T>{}))>;

/// The struct's name as TROUPE_DESCRIBE spelled it.
template <class T>
requires(described<T> || described_enum<T>) inline constexpr std::string_view spelled_name =
    troupe_description(describe_tag<T>{}).name;

namespace detail {

/// Calls `visit` with a null pointer to each class that the type is described to derive from, directly or indirectly.
template <described T>
void each_base(auto&& visit) {
  [&]<class U, class... Bases, auto... Members>(const description<U, bases<Bases...>, Members...>&) {
    [[maybe_unused]] const auto one = [&]<class Base>(const Base* base) {
      visit(base);
      each_base<Base>(visit);
    };
    (one(static_cast<const Bases*>(nullptr)), ...);
  }
  (troupe_description(describe_tag<T>{}));
}

template <class... Classes>
struct class_list {};

/// Merges lists of classes. Each class appears once, so a virtual base that several bases share appears once as well.
template <class List, class... Others>
struct merged {
  using type = List;
};
template <class... Known, class First, class... Rest, class... Others>
struct merged<class_list<Known...>, class_list<First, Rest...>, Others...>
    : merged<std::conditional_t<(false || ... || std::is_same_v<Known, First>), class_list<Known...>,
                                class_list<Known..., First>>,
             class_list<Rest...>, Others...> {};
template <class... Known, class... Others>
struct merged<class_list<Known...>, class_list<>, Others...> : merged<class_list<Known...>, Others...> {};

template <class... Classes>
constexpr auto names_of(class_list<Classes...>) {
  return joined(troupe_description(describe_tag<Classes>{}).names...);
}
template <class... Classes>
constexpr auto members_of(class_list<Classes...>) {
  return std::tuple_cat(fields_of<Classes>::own_members...);
}

template <class T, class... Bases, auto... Members>
struct flatten<description<T, bases<Bases...>, Members...>> {
  static_assert((true && ... && described<Bases>), "a base named in TROUPE_DESCRIBE_DERIVED has no TROUPE_DESCRIBE");
  static_assert(sizeof...(Bases) > 0 || !forgets_a_field<T, Members...>(),
                "TROUPE_DESCRIBE of this type forgot a field (the type is in `description<T, ...>` above)");
  using base_classes = typename merged<class_list<>, typename fields_of<Bases>::classes...>::type;
  using classes = typename merged<base_classes, class_list<T>>::type; // In the order of their fields.
  static constexpr auto own_members = std::tuple{Members...};
  static constexpr auto names = joined(names_of(base_classes{}), troupe_description(describe_tag<T>{}).names);
  static constexpr auto members = std::tuple_cat(members_of(base_classes{}), own_members);
  static constexpr std::size_t count = names.size();
  static_assert(all_differ(names), "two fields of one name, in the type or in its bases");

  template <std::size_t Index>
  using type = typename member_type<std::tuple_element_t<Index, std::remove_const_t<decltype(members)>>>::type;
};

} // namespace detail
} // namespace troupe
