// Which C++ types may be put into CAF messages. Types that Troupe's families carry need no CAF inspector.
#pragma once

#include <cstdint>
#include <type_traits>

#include <caf/allowed_unsafe_message_type.hpp>
#include <caf/detail/type_traits.hpp>
#include <caf/make_message.hpp>
#include <caf/meta/annotation.hpp>
#include <caf/type_nr.hpp>
#include <caf/unit.hpp>

#include <troupe/framework/fwd.hpp>
#include <troupe/serializers/array.hpp>
#include <troupe/serializers/describe.hpp>
#include <troupe/serializers/fwd.hpp>

namespace troupe::detail {

template <class T>
inline constexpr bool is_plain_class =
    std::is_class_v<T> && !std::is_const_v<T> && !std::is_base_of_v<caf::meta::annotation, T>;

/// A class that CAF cannot inspect and that is not described. This is a mistake, unless the class is on CAF's list of
/// unsafe types.
template <class T>
concept unknown_class = is_plain_class<T> && !has_description<T> && !caf::detail::is_serializable<T>::value;

/// Explains the mistake in a few lines, before CAF explains it in a thousand.
template <class T>
struct undescribed_message_type : std::true_type {
  static constexpr bool is_described = !unknown_class<T>;
  static_assert(
      is_described,
      "This type (see `undescribed_message_type<T>`) cannot travel in messages. Write TROUPE_DESCRIBE(T, "
      "member, ...) behind the type, in its own namespace, and register it with types.add<T>(\"name\"). If it "
      "has a codec of its own, write CAF_ALLOW_UNSAFE_MESSAGE_TYPE(T) at global scope instead.");
};

/// Explains why a type that cannot be copied is refused.
template <class T>
struct copied_message_type : std::true_type {
  static_assert(
      std::is_copy_constructible_v<T>,
      "This type (see `copied_message_type<T>`) cannot travel in messages: it cannot be copied, and CAF copies "
      "messages that have several receivers. Hold its parts by std::shared_ptr or by value instead of by "
      "std::unique_ptr.");
};

/// A described type. Its fields are checked where a message first uses it, not only where it is registered.
template <class T>
struct described_message_type : copied_message_type<T> {
  static_assert(sizeof(fields_of<T>) > 0); // Makes the checks of its description.
};

template <class T>
concept uncopied_class = is_plain_class<T> && !std::is_copy_constructible_v<T>;

} // namespace troupe::detail

// CAF requires that it can inspect the types in a message, unless they are on this list. For a type that is registered
// with a codec of its own, write CAF_ALLOW_UNSAFE_MESSAGE_TYPE(my_type) at global scope.
namespace caf {

template <troupe::described T>
struct allowed_unsafe_message_type<T> : troupe::detail::described_message_type<T> {};

template <troupe::detail::unknown_class T>
struct allowed_unsafe_message_type<T> : troupe::detail::undescribed_message_type<T> {};

// CAF asks for a type's number as soon as a handler or an interface names the type. Containers are checked only where
// they are sent, because a handler may receive containers that families carry and CAF does not.
template <troupe::detail::unknown_class T>
requires(!detail::is_iterable<T>::value) struct type_nr<T, false> {
  static_assert(allowed_unsafe_message_type<T>::value);
  static constexpr std::uint16_t value = 0;
};

// CAF asks for the type that a message holds for an argument. For a type that a message cannot hold, a stand-in saves
// 200 lines of errors after the one that explains the mistake.
template <troupe::detail::uncopied_class T>
struct unbox_message_element<T, 0> {
  static_assert(troupe::detail::copied_message_type<T>::value);
  using type = unit_t;
};

template <troupe::described_enum T>
struct allowed_unsafe_message_type<T> : std::true_type {};

template <>
struct allowed_unsafe_message_type<troupe::record> : std::true_type {};

template <>
struct allowed_unsafe_message_type<troupe::serialized> : std::true_type {};

template <class T>
struct allowed_unsafe_message_type<troupe::array<T>> : std::true_type {};

} // namespace caf
