// An option that knows whether it was set.
#pragma once

#include <concepts>
#include <initializer_list>
#include <type_traits>
#include <utility>

namespace troupe {

namespace internal {

template <class T>
struct element_of {
  using type = struct no_elements;
};
template <class T>
requires requires {
  typename T::allocator_type;
}
struct element_of<T> {
  using type = typename T::value_type;
};

} // namespace internal

/// Marks a value as an option's default.
struct by_default_t {};
inline constexpr by_default_t by_default{};

/// A value of an option that knows whether the program has set it. If the program leaves it unset, the option takes its
/// value from the configuration, or else its default.
///
///     troupe::link_options options{.serializers = {"msgpack"}, .spill_bytes = 1_MiB};
///     options.connect_timeout = 2s;
///     bool is_given = options.serializers.is_set();
///     std::size_t bytes = options.spill_bytes;
///
/// Threads and lifetime: as for a plain value.
template <class T>
class setting {
public:
  constexpr setting() = default;

  /// Has `value` as its default; it does not count as set.
  constexpr setting(by_default_t, T value) : value_(std::move(value)) {}

  /// Sets the value.
  template <class Value>
  requires std::convertible_to<Value, T> &&(!std::same_as<std::remove_cvref_t<Value>, setting>)constexpr setting(
      Value&& value)
      : value_(std::forward<Value>(value)), is_set_(true) {}
  constexpr setting(std::initializer_list<typename internal::element_of<T>::type> elements) requires requires {
    typename T::allocator_type;
  } : value_(elements), is_set_(true) {
  }

  [[nodiscard]] constexpr bool is_set() const noexcept { return is_set_; }

  /// Compares the values, whether they were set or not.
  template <std::same_as<setting> One, std::same_as<setting> Other> // So that no other value is converted.
  friend constexpr bool operator==(const One& a, const Other& b) {
    return a.value_ == b.value_;
  }

  [[nodiscard]] constexpr const T& operator*() const noexcept { return value_; }
  [[nodiscard]] constexpr const T* operator->() const noexcept { return &value_; }
  constexpr operator const T&() const noexcept { return value_; }

  /// The value, to be changed in place. It counts as set from now on.
  [[nodiscard]] constexpr T& edit() noexcept {
    is_set_ = true;
    return value_;
  }

  /// Changes the default. Has no effect if the option is set.
  constexpr void set_default(T value) {
    if (!is_set_)
      value_ = std::move(value);
  }

  template <class Other>
  requires(std::is_class_v<T> && !std::same_as<Other, setting>) friend constexpr bool operator==(const setting& one,
                                                                                                 const Other& other) {
    return one.value_ == other;
  }
  template <class Other>
  requires(std::is_class_v<T>&& std::same_as<Other, setting>) friend constexpr bool operator==(const setting& one,
                                                                                               const Other& other) {
    return one.value_ == other.value_;
  }

private:
  T value_{};
  bool is_set_ = false;
};

} // namespace troupe
