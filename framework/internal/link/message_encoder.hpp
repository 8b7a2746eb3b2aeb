// Encodes the elements of a message.
#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string>

#include <troupe/framework/internal/caf_port/encoding_cache.hpp>
#include <troupe/framework/internal/caf_port/message_owner.hpp>
#include <troupe/framework/internal/caf_port/message_view.hpp>
#include <troupe/framework/internal/caf_port/messages.hpp>
#include <troupe/framework/internal/caf_port/raw_message.hpp>
#include <troupe/framework/internal/link/header_definitions.hpp>
#include <troupe/framework/internal/link/known_types.hpp>
#include <troupe/framework/internal/link/link_common.hpp>
#include <troupe/framework/internal/link/message_draft.hpp>
#include <troupe/framework/internal/link/traffic.hpp>
#include <troupe/framework/node_errc.hpp>
#include <troupe/serializers/context.hpp>
#include <troupe/serializers/extend/encode_output.hpp>
#include <troupe/serializers/type_registry.hpp>

namespace troupe::internal {

/// Encodes the elements of messages. Each is encoded by the first family of the link's terms that supports it.
///
/// Threads: one. Reused from message to message, so that small messages allocate nothing.
class message_encoder {
public:
  /// Parts of one link; all must outlive the link's messages.
  struct parts {
    const link_common& link;
    const std::uint64_t serial; // link_core::serial
    const std::string& own_name;
    const type_registry& types;
    encoding_cache& encodings; // Shared with other links.
    header_definitions& headers;
    traffic_table* counts;                     // Null: nothing is counted.
    const std::shared_ptr<value_lane>& values; // Null if only bytes pass; set before the first message.
    const bool takes_raw;                      // Messages may hold payloads that are encoded already.
  };

  /// `known` must outlive this object.
  explicit message_encoder(known_types& known) : known_(known) {}

  /// Encodes the content of `message` into a draft that has begun. Values may leave without a copy; then the frames
  /// keep them. Keeps `message` until the next one, or until forget_values(). Fails with `unserializable`,
  /// `undecodable` or `refused_family`, and with `link_busy` if the draft is outdated.
  std::expected<void, unsent> encode(const parts& link, std::uint64_t receiver,
                                     const std::shared_ptr<message_owner>& message, message_draft& into);

  /// Resets the encoder after a draft was sent or has failed.
  void clear();
  /// From now on only the frames keep the last message's values.
  void forget_values() noexcept { context_.value_owner.reset(); }

private:
  void use(const sending_terms& terms, message_draft& into);
  std::expected<void, unsent> copy_raw(const parts& link, const raw_message& message, message_draft& into);
  std::expected<void, node_error> copy_raw(const parts& link, const std::string& alias, const raw_element& element,
                                           message_draft& into);
  [[nodiscard]] std::expected<known_type*, node_error> type_of(const parts& link, std::uint64_t receiver,
                                                               const element_type& of, const sending_terms& terms);
  [[nodiscard]] std::uint64_t carry_values(const parts& link, const message_view& content, message_draft& into);
  std::expected<void, unsent> encode_element(const parts& link, known_type& type, const void* value,
                                             const encoded_element* form, message_draft& into);
  [[nodiscard]] std::optional<encoded_element> take_encoded(const family* by, const type_entry& type,
                                                            frame_placer& frames);
  [[nodiscard]] std::uint64_t output_bytes() const;

  known_types& known_;
  context context_;                 // Copied from the terms; the last message owns the values.
  std::uint64_t context_terms_ = 0; // sending_terms::number
  encode_output output_;
  frame header_;
  std::shared_ptr<encoded_message> kept_; // The encoding in progress, if other links can use it; else null.
  std::size_t taken_bytes_ = 0;           // The memory of the values once they are decoded.
};

/// Returns the memory that the values of a message take, which estimates the time to encode them. Returns 0 if the
/// message is passed unencoded. Stops counting at `enough`.
[[nodiscard]] std::uint64_t weigh(const message_encoder::parts& link, known_types& known, const message_view& content,
                                  std::uint64_t enough);

} // namespace troupe::internal
