// What reading and writing share whatever the family: rebuilding, shared objects, enumerators, taking in elements.
#pragma once

#include <optional>
#include <typeinfo>

#include <troupe/serializers/coding.hpp>
#include <troupe/serializers/internal/shapes.hpp>
#include <troupe/serializers/internal/type_text.hpp>

namespace troupe::detail {

template <class T>
bool fail_unreadable(coding& state) {
  return state.fail(serialize_errc::not_supported,
                    type_text(typeid(T))
                        + " has no default constructor: give it a codec<T>, or reduce() and rebuild()");
}

template <class T>
std::optional<T> rebuilt(decoding& state, typename hook<T>::form&& form) {
  auto value = hook<T>::rebuild(std::move(form), state.context());
  if (value)
    return std::move(*value);
  state.fail(value.error());
  return std::nullopt;
}

/// Makes a T with `read`, a callable that reads into a T& of any type that travels.
template <class T>
std::optional<T> read_new(decoding& state, auto&& read) {
  if constexpr (std::is_default_constructible_v<T>) {
    std::optional<T> value(std::in_place);
    if (!read(*value))
      value.reset();
    return value;
  } else if constexpr (shape_of<T> == shape::hook) {
    auto form = read_new<typename hook<T>::form>(state, read);
    return form ? rebuilt<T>(state, std::move(*form)) : std::nullopt;
  } else {
    fail_unreadable<T>(state);
    return std::nullopt;
  }
}

// What a node of a list, set or map costs beyond its element.
inline constexpr std::size_t node_bytes = 32;

/// Appends one element, read by `read`.
template <class T>
bool read_back(decoding& state, T& values, auto&& read) {
  using element = typename T::value_type;
  if constexpr (std::is_same_v<element, bool>) {
    bool value = false;
    if (!read(value))
      return false;
    values.push_back(value);
    return true;
  } else if constexpr (std::is_default_constructible_v<element> && requires { values.emplace_back(); }) {
    values.emplace_back();
    return read(values.back());
  } else {
    auto value = read_new<element>(state, read);
    if (value)
      values.push_back(std::move(*value));
    return value.has_value();
  }
}

/// Inserts an element into a set or map; twice the same is an error.
template <class T>
bool insert_once(decoding& state, T& container, auto&&... value) {
  const auto before = container.size();
  container.emplace(std::move(value)...);
  return container.size() > before || state.fail(serialize_errc::malformed, "the same key twice");
}

/// Reads the object of a shared pointer at its first appearance, with `read`, and gives it to `target`.
template <class T>
bool read_shared_object(decoding& state, std::shared_ptr<T>& target, auto&& read) {
  const auto number = state.number_shared();
  if (!state.charge(1, sizeof(T) + node_bytes))
    return false;
  if constexpr (std::is_default_constructible_v<T>) {
    auto object = std::make_shared<T>();
    // Known before its content is read: the content may point back at it.
    state.keep_shared(number, typeid(T), object, [](void* at) {
      if constexpr (std::is_move_assignable_v<T>)
        *static_cast<T*>(at) = T();
    });
    if (!read(*object))
      return false;
    target = std::move(object);
  } else if constexpr (shape_of<T> == shape::hook) {
    auto value = read_new<T>(state, read);
    if (!value)
      return false;
    target = std::make_shared<T>(std::move(*value));
    state.keep_shared(number, typeid(T), target, [](void*) {});
  } else {
    return fail_unreadable<T>(state); // An abstract class, for one.
  }
  return true;
}

template <described_enum T>
bool is_enumerator(T value) {
  constexpr auto description = troupe_description(describe_tag<T>{});
  for (const auto known : description.values)
    if (known == value)
      return true;
  return false;
}

/// The name of a described enum's value; empty, with the failure set, when it has none.
template <described_enum T>
std::string_view enumerator_name(coding& state, T value) {
  constexpr auto description = troupe_description(describe_tag<T>{});
  for (std::size_t i = 0; i < description.values.size(); ++i)
    if (description.values[i] == value)
      return description.names[i];
  state.fail(serialize_errc::codec_failed, std::to_string(static_cast<std::int64_t>(value))
                                               + " is no value of the enum " + std::string(description.name));
  return {};
}

/// Reads the alternative of that index into a variant; `read` reads into a T&.
template <class T>
bool read_alternative(decoding& state, T& target, std::size_t index, auto&& read) {
  return [&]<std::size_t... Index>(std::index_sequence<Index...>) {
    bool done = false;
    const auto attempt = [&]<std::size_t I>(std::integral_constant<std::size_t, I>) {
      auto value = read_new<std::variant_alternative_t<I, T>>(state, read);
      if (value)
        target.template emplace<I>(std::move(*value));
      done = value.has_value();
    };
    static_cast<void>(
        (false || ... || (Index == index && (attempt(std::integral_constant<std::size_t, Index>{}), true))));
    return done;
  }
  (std::make_index_sequence<std::variant_size_v<T>>{});
}

} // namespace troupe::detail
