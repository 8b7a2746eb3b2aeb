// A message element that holds either a value or a reference to one. The sender chooses which.
#pragma once

#include <chrono>
#include <expected>
#include <optional>
#include <tuple>
#include <utility>
#include <variant>

#include <caf/allowed_unsafe_message_type.hpp>
#include <caf/response_type.hpp>

#include <troupe/framework/object_ref.hpp>
#include <troupe/serializers/codec.hpp>

namespace troupe {

/// For the interfaces of typed actors. An actor with `replies_to<stir_atom, arg<spoon>>::with<bool>` accepts a spoon or
/// an object_ref<spoon>. If troupe::resolving makes its behavior, the handler takes a `const spoon&`.
///
///     self->request(cup, 1s, stir_v, troupe::arg{ref}).then(...); // CAF wants the interface's own type.
///
/// A bare reference does not compile; the compiler's message says what to write.
///
/// A message carries the value or the reference, in every family. Register arg<spoon> in addition to spoon, under an
/// alias of its own.
///
/// Threads: as for T and object_ref. Lifetime: as for object_ref if it holds a reference.
template <class T>
class arg {
public:
  arg() = default; ///< Holds an empty reference.
  arg(T value) : held_(std::in_place_index<1>, std::move(value)) {}
  arg(object_ref<T> ref) : held_(std::in_place_index<0>, std::move(ref)) {}

  /// The value; null if it holds a reference.
  [[nodiscard]] const T* value() const noexcept { return std::get_if<1>(&held_); }
  [[nodiscard]] T* value() noexcept { return std::get_if<1>(&held_); }

  /// The reference; null if it holds a value.
  [[nodiscard]] const object_ref<T>* ref() const noexcept { return std::get_if<0>(&held_); }

  /// Returns a copy of the value, or what the reference refers to. In the second case it waits and fails as
  /// object_ref::get() does.
  [[nodiscard]] std::expected<T, node_error>
  get(std::chrono::milliseconds timeout = std::chrono::milliseconds(0)) const {
    if (const auto* held = value())
      return *held;
    return ref()->get(timeout);
  }

private:
  std::variant<object_ref<T>, T> held_;
};

template <class T>
arg(object_ref<T>) -> arg<T>;

namespace internal {

template <class T>
inline constexpr bool is_object_ref = false;
template <class T>
inline constexpr bool is_object_ref<object_ref<T>> = true;

} // namespace internal

template <class T>
struct codec<arg<T>> {
  using form = std::tuple<std::optional<T>, object_ref<T>>;

  static std::expected<form, serialize_error> reduce(const arg<T>& from, const context&) {
    if (const auto* value = from.value())
      return form{*value, {}};
    return form{std::nullopt, *from.ref()};
  }

  static std::expected<arg<T>, serialize_error> rebuild(form&& from, const context&) {
    auto& [value, ref] = from;
    if (value)
      return arg<T>(*std::move(value));
    return arg<T>(std::move(ref));
  }
};

} // namespace troupe

namespace caf {

template <class T>
struct allowed_unsafe_message_type<troupe::arg<T>> : std::true_type {};

/// Chosen if a typed actor has no handler for these types and one of them is a reference. The assertion then says what
/// to write, where CAF alone would only report "no matching function".
template <class... Xs>
requires(troupe::internal::is_object_ref<Xs> || ...) struct response_type<detail::type_list<>, Xs...> {
  static constexpr bool valid = false;
  static_assert(!(troupe::internal::is_object_ref<Xs> || ...),
                "this typed actor has no handler for an object_ref among these arguments; where its interface says "
                "troupe::arg<T>, send troupe::arg{ref}: CAF wants the interface's own type");
};

} // namespace caf
