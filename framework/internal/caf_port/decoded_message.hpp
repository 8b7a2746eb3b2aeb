// A CAF message whose elements were decoded by a registry's type entries: one block of memory for all of them and for
// their place in a mailbox.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
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
  std::string unknown_alias; // The first one that the registry does not have; then the rest stays empty.
  std::vector<std::shared_ptr<const type_entry>> entries; // Messages may outlive the registry.
  std::vector<caf::rtti_pair> types;
  std::vector<std::size_t> offsets; // Of each element in the message's storage.
  std::size_t storage_bytes = 0;
  std::size_t alignment = 1;
  std::uint32_t type_token = 0;
  message_kind kind = message_kind::ordinary;
};

[[nodiscard]] signature resolve_signature(const std::vector<std::string>& aliases, const type_registry& types);

class decoded_message;

/// Elements are made one after the other; given up half-way, those made so far are destroyed.
class message_under_construction {
public:
  /// `owed` is settled when the message has been consumed, and keeps `types`. A copy, which somebody makes on purpose,
  /// owes nothing.
  message_under_construction(const signature& types, receipt owed);
  ~message_under_construction();
  message_under_construction(const message_under_construction&) = delete;
  message_under_construction& operator=(const message_under_construction&) = delete;

  /// Makes the next element by its default constructor and gives its place; null where it has none, or cannot be
  /// copied, which CAF does with messages that have several receivers.
  [[nodiscard]] void* construct_next();

  /// One more that is settled when the message has been consumed. `keeps` is what the message needs as long as it
  /// lives.
  void owe(receipt more, std::shared_ptr<const void> keeps);

  /// Ready for a mailbox. Requires: all elements are made.
  [[nodiscard]] caf::mailbox_element_ptr finish(caf::strong_actor_ptr sender, caf::message_id id) &&;

private:
  decoded_message* data_;
};

/// A message of that one value. Requires: one of the entry's type.
[[nodiscard]] caf::message message_of(const type_entry& type, std::shared_ptr<void> value);

} // namespace troupe::internal
