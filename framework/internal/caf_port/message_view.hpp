// CAF's messages as links see them: the number of elements, their types, and the addresses of their values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <caf/mailbox_element.hpp>
#include <caf/message.hpp>
#include <caf/rtti_pair.hpp>
#include <caf/type_erased_tuple.hpp>

#include <troupe/framework/internal/caf_port/builtin_types.hpp>
#include <troupe/serializers/type_entry.hpp>

namespace troupe::internal {

/// The type of a message's element.
class element_type {
public:
  element_type() = default;
  explicit element_type(const caf::rtti_pair& known_as) noexcept : known_as_(known_as) {}

  /// Null if the registry has none.
  [[nodiscard]] const type_entry* entry_in(const type_registry& types) const { return entry_of(known_as_, types); }
  /// A readable name, for error messages.
  [[nodiscard]] std::string name() const { return name_of_type(known_as_); }

  [[nodiscard]] std::size_t hash() const noexcept {
    return known_as_.first + (reinterpret_cast<std::uintptr_t>(known_as_.second) >> 4);
  }
  friend bool operator==(const element_type& a, const element_type& b) noexcept { return a.known_as_ == b.known_as_; }
  friend bool operator<(const element_type& a, const element_type& b) noexcept { return a.known_as_ < b.known_as_; }

private:
  caf::rtti_pair known_as_ = {};
};

/// How CAF itself treats a message.
enum class message_kind : std::uint8_t {
  ordinary,
  error, // One error: the answer to a failed request; otherwise it ends its receiver.
  exit,  // One exit message, which ends its receiver.
  down   // Reports that a monitored actor has ended.
};

/// The kind, by CAF's token of the element types.
[[nodiscard]] message_kind kind_of(std::uint32_t type_token) noexcept;

/// The elements of a message. It neither changes nor copies the message.
///
/// Lifetime: that of the message.
class message_view {
public:
  explicit message_view(const caf::mailbox_element& of) noexcept : content_(&of.content()) {}
  explicit message_view(const caf::message& of) noexcept : content_(of.cvals().get()) {}

  [[nodiscard]] std::size_t size() const noexcept { return content_ != nullptr ? content_->size() : 0; }
  [[nodiscard]] element_type type(std::size_t i) const noexcept { return element_type{content_->type(i)}; }
  [[nodiscard]] const void* value(std::size_t i) const noexcept { return content_->get(i); }
  [[nodiscard]] message_kind kind() const noexcept {
    return content_ != nullptr ? kind_of(content_->type_token()) : message_kind::ordinary;
  }
  /// The first element if it is an atom; else empty.
  [[nodiscard]] std::string first_atom() const;
  /// Whether the message has several holders.
  [[nodiscard]] bool is_shared() const noexcept { return content_ != nullptr && content_->shared(); }
  /// The content's address: different for all messages that are alive.
  [[nodiscard]] const void* place() const noexcept { return content_; }
  /// Whether `other` has the same content, at the same address.
  [[nodiscard]] bool is_of(const caf::message& other) const noexcept {
    return content_ == static_cast<const caf::type_erased_tuple*>(other.cvals().get());
  }

private:
  const caf::type_erased_tuple* content_;
};

/// The memory of the message's values, as far as the registry knows their types.
[[nodiscard]] std::uint64_t value_memory_of(const message_view& message, const type_registry& types);

} // namespace troupe::internal
