// The hook for types without a description: they travel in the form of another type.
#pragma once

#include <concepts>
#include <expected>
#include <tuple>
#include <utility>

#include <troupe/serializers/context.hpp>
#include <troupe/serializers/serialize_error.hpp>

namespace troupe {

/// Specialize codec<T> for a type that travels in another form, in every family, alone or anywhere inside another
/// value:
///
///     template <> struct troupe::codec<celsius> {
///       using form = double;
///       static std::expected<form, serialize_error> reduce(const celsius&, const context&);
///       static std::expected<celsius, serialize_error> rebuild(form&&, const context&);
///     };
///
/// `form` is any type that can travel: a described struct, a tuple, a container. A `frame` in the form is sent out of
/// band, without a copy; the receiver gets the same bytes with an owner of its own. T needs no default constructor if
/// it stands inside a vector, list, deque, set, optional, pointer or map. Any number of threads may call reduce and
/// rebuild at once. Their exceptions become the error `codec_failed`.
///
/// If rebuild takes memory beyond that of the form, the codec says how much:
///
///       static std::size_t rebuilt_bytes(const form&);
///
/// The decoder charges these bytes to the payload's limits before it calls rebuild(). Codecs for values from peers need
/// this function if the form views or repeats its bytes, because the value may then become much larger than the
/// received bytes. Encoding also calls rebuilt_bytes(), so that a message can state its result.
///
/// A codec that does not depend on the context may declare `static constexpr bool is_self_contained = true;`. Then
/// values that stay in their process, on an inproc link, are handed over without the codec. If the codec reports the
/// heap memory of a value, that memory counts against windows:
///
///       static std::size_t held_bytes(const celsius&);
template <class T>
struct codec; // No definition: `requires { typename codec<T>::form; }` checks whether one exists.

namespace detail {

template <class Tuple, class T>
inline constexpr bool rebuilds_from = false;
template <class... Parts, class T>
inline constexpr bool rebuilds_from<std::tuple<Parts...>, T> = requires(Parts&&... parts) {
  { T::rebuild(std::move(parts)...) } -> std::convertible_to<T>;
};

/// T::reduce() returns a tuple, and T::rebuild(...) makes the value again from its parts.
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
