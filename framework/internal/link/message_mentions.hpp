// What the values of an outgoing message name in addition to their bytes: actors and objects.
#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <vector>

#include <troupe/framework/internal/link/actor_names.hpp>
#include <troupe/framework/internal/link/link_common.hpp>
#include <troupe/framework/internal/link/packed_message.hpp>
#include <troupe/framework/internal/objects/codec_mentions.hpp>
#include <troupe/framework/internal/objects/handle_counter.hpp>
#include <troupe/framework/internal/wire/packet.hpp>
#include <troupe/store/object_store.hpp>

namespace troupe::internal {

/// Notes the actors and objects that a message mentions, as the codecs of handles report them.
///
/// Threads: one. Reused from message to message.
class message_mentions final : public codec_mentions {
public:
  /// Parts of one link; all must outlive the link's messages.
  struct parts {
    const link_common& link;
    actor_names& actors;
    const std::shared_ptr<handle_counter>& exchange; // Null if the node has no store.
    const std::optional<store::object_store>& store;
  };

  /// Starts a message of that link. Its claims take what it mentions. Both must live until the next begin().
  void begin(const parts& of, message_cargo& cargo) noexcept {
    of_ = &of;
    cargo_ = &cargo;
    stored_bytes_ = 0;
  }
  /// Mentions from here on belong to that element.
  void begin_element(element_descriptor& of) noexcept { element_ = &of; }

  /// The bytes of objects that were handed over in the shared store.
  [[nodiscard]] std::uint64_t bytes_in_store() const noexcept { return stored_bytes_; }

  std::expected<std::uint32_t, serialize_error> mention(const actor_handle& handle) override;
  std::expected<std::uint32_t, serialize_error> mention(const object_state& object) override;
  /// Hands over an object in the shared store at once. An object that the peer has to pull is counted when the message
  /// leaves. Returns 0 if neither is possible; then the object's bytes have to travel.
  std::expected<std::uint32_t, serialize_error> mention(const object_source_ptr& object);

  std::expected<actor_handle, serialize_error> mentioned(std::uint32_t place) override;
  std::expected<object_source_ptr, serialize_error> mentioned_object(std::uint32_t place) override;
  std::shared_ptr<const object_environment> objects() const override;
  [[nodiscard]] bool reads_mentions_of_parts() const override;

private:
  const parts* of_ = nullptr;
  message_cargo* cargo_ = nullptr;
  element_descriptor* element_ = nullptr;
  std::uint64_t stored_bytes_ = 0;
};

} // namespace troupe::internal
