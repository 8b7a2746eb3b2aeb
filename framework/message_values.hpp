// The values of messages whose types are known at run time, for programs that turn messages into another form and back.
#pragma once

#include <cstddef>
#include <expected>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <caf/message.hpp>

#include <troupe/base/export.hpp>
#include <troupe/framework/node_errc.hpp>
#include <troupe/serializers/type_entry.hpp>

namespace troupe {

/// One value of a message.
struct message_value {
  const type_entry* type = nullptr; ///< Null if the registry does not have the type.
  const void* value = nullptr;      ///< Valid while the message lives.
};

/// The values of the message, in order.
/// Threads: any. Lifetime: the registry must outlive the result.
[[nodiscard]] TROUPE_EXPORT std::vector<message_value> values_of(const caf::message& message,
                                                                 const type_registry& types);

/// A readable name of the C++ type of the message's value at that place, for errors about types without an alias.
/// Requires: the message has such a value.
[[nodiscard]] TROUPE_EXPORT std::string type_name_of(const caf::message& message, std::size_t place);

/// Makes a message of one value of each of these types. Each value is made without arguments and then passed to `fill`
/// with its place. `keeps` lives until the message is consumed, which is when the last reference to it is gone. It is
/// then released by any thread, possibly under a lock of CAF's. So its destructor must not block and must not call
/// CAF.
/// Threads: any. Lifetime: the types must live as long as the message.
/// Fails with `undecodable` if a type has no default constructor or cannot be copied, and as `fill` does.
[[nodiscard]] TROUPE_EXPORT std::expected<caf::message, node_error>
message_with(std::span<const type_entry* const> types,
             const std::function<std::expected<void, node_error>(std::size_t place, void* value)>& fill,
             std::shared_ptr<const void> keeps = nullptr);

} // namespace troupe
