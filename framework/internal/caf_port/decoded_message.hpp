// A CAF message whose elements a registry's type entries have decoded. One block of memory holds the elements and their
// mailbox element.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <caf/mailbox_element.hpp>
#include <caf/message.hpp>
#include <caf/rtti_pair.hpp>

#include <troupe/framework/internal/caf_port/message_view.hpp>
#include <troupe/framework/internal/flow/consumption.hpp>
#include <troupe/serializers/type_entry.hpp>

namespace troupe::internal {

/// The element types of messages, resolved once.
struct signature {
  std::vector<std::string> aliases;
  std::string unknown_alias; // The first alias that the registry lacks; the members below are then incomplete.
  std::vector<std::shared_ptr<const type_entry>> entries; // Messages may outlive the registry.
  std::vector<caf::rtti_pair> types;
  std::vector<std::size_t> offsets; // Of each element, in the message's storage.
  std::size_t storage_bytes = 0;
  std::size_t alignment = 1;
  std::uint32_t type_token = 0;
  message_kind kind = message_kind::ordinary;
};

[[nodiscard]] signature signature_of(std::span<const type_entry* const> types);
[[nodiscard]] signature resolve_signature(const std::vector<std::string>& aliases, const type_registry& types);

class decoded_message;

/// Constructs the elements one after the other. If it is destroyed before finish(), it destroys those made so far.
class message_under_construction {
public:
  /// `owed` is settled when the message has been consumed, and keeps `types` alive. An explicit copy of the message
  /// owes nothing.
  message_under_construction(const signature& types, receipt owed);
  ~message_under_construction();
  message_under_construction(const message_under_construction&) = delete;
  message_under_construction& operator=(const message_under_construction&) = delete;

  /// Default-constructs the next element and returns its address. Null if its type has no default constructor, or
  /// cannot be copied. CAF copies messages that have several receivers.
  [[nodiscard]] void* construct_next();

  /// Adds a receipt that is also settled when the message has been consumed. `keeps` is kept alive as long as the
  /// message lives.
  void owe(receipt more, std::shared_ptr<const void> keeps);

  /// Returns the message, ready for a mailbox. Requires: all elements are made.
  [[nodiscard]] caf::mailbox_element_ptr finish(caf::strong_actor_ptr sender, caf::message_id id) &&;

private:
  decoded_message* data_;
};

/// A message of that one value. Requires: the value has the entry's type.
[[nodiscard]] caf::message message_of(const type_entry& type, std::shared_ptr<void> value);

} // namespace troupe::internal
