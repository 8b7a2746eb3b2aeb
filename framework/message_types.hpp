// Which C++ types may be put into CAF messages: types that Troupe's families carry need no CAF inspector.
#pragma once

#include <caf/allowed_unsafe_message_type.hpp>

#include <troupe/framework/fwd.hpp>
#include <troupe/serializers/array.hpp>
#include <troupe/serializers/describe.hpp>
#include <troupe/serializers/fwd.hpp>

// CAF requires that a message's types can be inspected, unless they are on this list. For a type that is registered
// with a codec of its own, write CAF_ALLOW_UNSAFE_MESSAGE_TYPE(my_type) at namespace scope.
namespace caf {

template <troupe::described T>
struct allowed_unsafe_message_type<T> : std::true_type {};

template <troupe::described_enum T>
struct allowed_unsafe_message_type<T> : std::true_type {};

template <>
struct allowed_unsafe_message_type<troupe::record> : std::true_type {};

template <>
struct allowed_unsafe_message_type<troupe::serialized> : std::true_type {};

template <class T>
struct allowed_unsafe_message_type<troupe::array<T>> : std::true_type {};

} // namespace caf
