// serializable: checks at compile time whether a type can travel by a family. If it cannot, the compiler names the
// member.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <tuple>
#include <type_traits>

#include <troupe/serializers/internal/shape/parts.hpp>

namespace troupe {

/// A family's verdict on a type at compile time.
enum class carriage {
  whole,    ///< Carried as a whole, whatever the parts are.
  by_parts, ///< Carried if all parts are carried.
  refused,
};

/// A family's rule at compile time. By default, a family carries described types and the types that this library knows.
/// A family with another rule, such as cereal_family, specializes this template.
template <class Family>
struct carriage_rule {
  template <class T>
  static constexpr carriage of =
      detail::obstacle_of<T> == detail::obstacle::none ? carriage::by_parts : carriage::refused;
};

/// A text as a template argument. Compilers show it in their messages.
template <std::size_t Size>
struct fixed_text {
  char text[Size + 1]{};
  [[nodiscard]] constexpr std::string_view view() const { return {text, Size}; }
};

/// The reason why a type cannot travel: the path to the member, and the member's type, as in
/// `cannot_travel<{"items[].lock"}, std::mutex>`.
template <fixed_text Member, class Type>
struct cannot_travel {};

namespace detail {

template <fixed_text Way, fixed_text Step>
consteval auto joined_way() {
  constexpr auto way = Way.view();
  constexpr auto step = way.empty() && Step.view().starts_with('.') ? Step.view().substr(1) : Step.view();
  fixed_text<way.size() + step.size()> made;
  std::ranges::copy(step, std::ranges::copy(way, made.text).out);
  return made;
}

template <std::size_t Size>
consteval auto fixed(std::string_view text) {
  fixed_text<Size> made;
  std::ranges::copy(text, made.text);
  return made;
}

template <class T, class Part>
consteval auto fixed_step() {
  if constexpr (Part::way == step::field) {
    constexpr auto name = fields_of<T>::names[Part::index];
    return joined_way<fixed<1>("."), fixed<name.size()>(name)>();
  } else if constexpr (Part::way == step::option || Part::way == step::position) {
    constexpr std::size_t digits = Part::index < 10 ? 1 : Part::index < 100 ? 2 : 3;
    fixed_text<digits + 2> made;
    made.text[0] = '<';
    auto left = Part::index;
    for (auto at = digits; at > 0; --at, left /= 10)
      made.text[at] = static_cast<char>('0' + left % 10);
    made.text[digits + 1] = '>';
    return made;
  } else if constexpr (Part::way == step::pointee) {
    return fixed<2>("->");
  } else if constexpr (Part::way == step::element) {
    return fixed<2>("[]");
  } else if constexpr (Part::way == step::key) {
    return fixed<5>("{key}");
  } else if constexpr (Part::way == step::mapped) {
    return fixed<2>("{}");
  } else {
    return fixed<0>("");
  }
}

// The first hindrance in T, as cannot_travel<...>, or void. `Above` are the enclosing types that are already being
// checked, for types that contain themselves.
template <class Family, class T, fixed_text Way, class... Above>
struct find_hindrance;

template <class... Found>
consteval std::size_t first_hindrance() {
  const std::array<bool, sizeof...(Found) + 1> hinders{!std::is_void_v<Found>..., true};
  return static_cast<std::size_t>(std::ranges::find(hinders, true) - hinders.begin());
}

template <class... Found>
using first_hindrance_t = std::tuple_element_t<first_hindrance<Found...>(), std::tuple<Found..., void>>;

template <class Family, class T, fixed_text Way, class Parts, class... Above>
struct find_hindrance_in;
template <class Family, class T, fixed_text Way, class... Parts, class... Above>
struct find_hindrance_in<Family, T, Way, part_list<Parts...>, Above...> {
  using type =
      first_hindrance_t<typename find_hindrance<Family, typename Parts::type, joined_way<Way, fixed_step<T, Parts>()>(),
                                                T, Above...>::type...>;
};

template <class Family, class T, fixed_text Way, class... Above>
consteval auto find_hindrance_of() {
  constexpr auto answer = carriage_rule<Family>::template of<T>;
  if constexpr (answer == carriage::refused)
    return std::type_identity<cannot_travel<Way, T>>();
  else if constexpr (answer == carriage::whole || (std::is_same_v<T, Above> || ... || false))
    return std::type_identity<void>();
  else
    return find_hindrance_in<Family, T, Way, parts_of<T>, Above...>();
}

template <class Family, class T, fixed_text Way, class... Above>
struct find_hindrance {
  using type = typename decltype(find_hindrance_of<Family, T, Way, Above...>())::type;
};

// A concept of its own, so that the compiler prints `Found` if it fails.
template <class Found>
concept nothing_hinders = std::is_void_v<Found>;

} // namespace detail

/// The first member of T because of which the family cannot carry T, as cannot_travel<...>; void if there is none.
template <class T, class Family>
using hindrance_of = typename detail::find_hindrance<Family, std::remove_cv_t<T>, fixed_text<0>{}>::type;

/// Whether the family carries the type, as far as is known at compile time: by its description, its codec<T>, and for
/// cereal_family its cereal functions. Aliases and codecs that a type_registry adds at run time are not considered;
/// inspect.hpp considers them.
///
///     void publish(const troupe::serializable<troupe::typed_family> auto& value);
///
/// If it is false, the compiler's message contains the member and its type, as cannot_travel<{"items[].lock"},
/// std::mutex>.
template <class T, class Family>
concept serializable = detail::nothing_hinders<hindrance_of<T, Family>>;

} // namespace troupe
