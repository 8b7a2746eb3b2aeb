// Payloads that pass between messages and links as they are, without their C++ types.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <caf/actor_control_block.hpp>
#include <caf/allowed_unsafe_message_type.hpp>

#include <troupe/framework/internal/caf_port/decoded_message.hpp>
#include <troupe/serializers/payload.hpp>
#include <troupe/serializers/type_entry.hpp>

namespace troupe::internal {

/// An element of a message that has arrived, of an alias that the registry does not have. Handles in it mean nothing.
struct raw_payload {
  std::string alias;
  payload content;
};

/// One element of a message that is to be sent.
struct raw_element {
  payload content;                           // With at least one frame.
  std::vector<caf::strong_actor_ptr> actors; // Which the payload mentions, in their order.
};

/// The only element of a CAF message that leaves as a message with these elements.
struct raw_message {
  std::shared_ptr<const signature> types; // Only its aliases are used: one for each element.
  std::vector<raw_element> elements;
};

/// Registers both. Then aliases that the registry does not have are no error any more: their payloads arrive as
/// raw_payload.
void add_raw_types(type_registry& types);

/// The type of arrived elements whose alias the registry does not have. Null unless add_raw_types() was called.
[[nodiscard]] const type_entry* raw_type(const type_registry& types);

[[nodiscard]] inline bool is_raw(const type_entry& type) noexcept {
  return type.type() == typeid(raw_payload);
}

} // namespace troupe::internal

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::internal::raw_payload)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::internal::raw_message)
