// The hook for types that cannot be described: they travel in the form of another type.
#pragma once

#include <concepts>
#include <expected>
#include <tuple>
#include <utility>

#include <troupe/serializers/context.hpp>
#include <troupe/serializers/serialize_error.hpp>

namespace troupe {

/// Specialize it for a type that travels as something else, in every family, alone or anywhere inside another value:
///
///     template <> struct troupe::codec<celsius> {
///       using form = double;
///       static std::expected<form, serialize_error> reduce(const celsius&, const context&);
///       static std::expected<celsius, serialize_error> rebuild(form&&, const context&);
///     };
///
/// `form` is anything that can travel: a described struct, a tuple, a container. A `frame` in it leaves out of band,
/// never copied, and the same bytes come back with an owner of the receiver's. The type itself needs no default
/// constructor when it stands in a vector, list, deque, set, optional, pointer or map. What reduce or rebuild throws
/// becomes an error.
///
/// A codec whose rebuild takes memory beyond what the form has taken says how much:
///
///       static std::size_t rebuilt_bytes(const form&);
///
/// Then it is charged to the payload's limits before rebuild() is called, which a peer's values need: a form that views
/// or repeats its bytes may become much more than came. Encoding calls it as well, so that messages state it.
///
/// A codec that does not depend on the context may say so with `static constexpr bool is_self_contained = true;`. Then
/// values that stay in their process, on an inproc link, are handed over without it. What such a value takes on the heap
/// counts against windows, where the codec tells:
///
///       static std::size_t held_bytes(const celsius&);
template <class T>
struct codec; // No definition: `requires { typename codec<T>::form; }` tells whether there is one.

namespace detail {

template <class Tuple, class T>
inline constexpr bool rebuilds_from = false;
template <class... Parts, class T>
inline constexpr bool rebuilds_from<std::tuple<Parts...>, T> = requires(Parts&&... parts) {
  { T::rebuild(std::move(parts)...) } -> std::convertible_to<T>;
};

/// T::reduce() gives a tuple, from whose parts T::rebuild(...) makes the value again.
template <class T>
concept reducible = requires(const T& value) {
  value.reduce();
}
&&rebuilds_from<decltype(std::declval<const T&>().reduce()), T>;

template <class T>
concept hooked = requires {
  typename codec<T>::form;
}
|| reducible<T>;

template <class T>
struct hook {
  using form = typename codec<T>::form;
  static std::expected<form, serialize_error> reduce(const T& value, const context& ctx) {
    return codec<T>::reduce(value, ctx);
  }
  static std::expected<T, serialize_error> rebuild(form&& from, const context& ctx) {
    return codec<T>::rebuild(std::move(from), ctx);
  }
};

template <class T>
requires(!requires { typename codec<T>::form; } && reducible<T>) struct hook<T> {
  using form = decltype(std::declval<const T&>().reduce());
  static std::expected<form, serialize_error> reduce(const T& value, const context&) { return value.reduce(); }
  static std::expected<T, serialize_error> rebuild(form&& from, const context&) {
    return std::apply([](auto&&... parts) { return T::rebuild(std::move(parts)...); }, std::move(from));
  }
};

} // namespace detail
} // namespace troupe
