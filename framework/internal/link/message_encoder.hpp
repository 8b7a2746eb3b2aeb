// From the elements of a message to bytes.
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
#include <troupe/framework/internal/link/header_definitions.hpp>
#include <troupe/framework/internal/link/known_types.hpp>
#include <troupe/framework/internal/link/link_common.hpp>
#include <troupe/framework/internal/link/message_draft.hpp>
#include <troupe/framework/internal/link/traffic.hpp>
#include <troupe/framework/node_errc.hpp>
#include <troupe/serializers/context.hpp>
#include <troupe/serializers/encode_output.hpp>
#include <troupe/serializers/type_registry.hpp>

namespace troupe::internal {

/// Turns the elements of messages into bytes, each by the first family of the link's terms that carries it.
///
/// Threads: one, which uses it again from message to message, so that small messages allocate nothing.
class message_encoder {
public:
  /// Of one link. All of it outlives the link's messages.
  struct parts {
    const link_common& link;
    const std::uint64_t serial; // link_core::serial
    const std::string& own_name;
    const type_registry& types;
    encoding_cache& encodings; // For other links.
    header_definitions& headers;
    traffic_table* counts;                     // Null: nothing is counted.
    const std::shared_ptr<value_lane>& values; // Null where only bytes pass; set before the first message.
  };

  /// `known` outlives this.
  explicit message_encoder(known_types& known) : known_(known) {}

  /// Encodes the content of `message` into a draft that has begun. Values may leave without a copy and are then kept by
  /// the frames. Keeps `message` until it is given another, or forget_values(). Fails with `unserializable`,
  /// `undecodable` or `refused_family`; with `link_busy` where the draft is outdated.
  std::expected<void, unsent> encode(const parts& link, std::uint64_t receiver,
                                     const std::shared_ptr<message_owner>& message, message_draft& into);

  /// The draft was sent, or will not be.
  void clear();
  /// The last message's values are kept by its frames alone from now on.
  void forget_values() noexcept { context_.value_owner.reset(); }

private:
  void use(const sending_terms& terms, message_draft& into);
  [[nodiscard]] std::expected<known_type*, node_error> type_of(const parts& link, std::uint64_t receiver,
                                                               const element_type& of, const sending_terms& terms);
  [[nodiscard]] std::uint64_t carry_values(const parts& link, const message_view& content, message_draft& into);
  std::expected<void, unsent> encode_element(const parts& link, known_type& type, const void* value,
                                             const encoded_element* form, message_draft& into);
  [[nodiscard]] std::optional<encoded_element> take_encoded(const family* by, const type_entry& type,
                                                            frame_placer& frames);
  [[nodiscard]] std::uint64_t output_bytes() const;

  known_types& known_;
  context context_;                 // The terms', with the last message as owner of the values.
  std::uint64_t context_terms_ = 0; // sending_terms::number
  encode_output output_;
  frame header_;
  std::shared_ptr<encoded_message> kept_; // What is encoded now, for other links; null where nobody sends it again.
  std::size_t taken_bytes_ = 0;           // What the values take once they are decoded.
};

/// The memory that the values of a message take, as far as that says how long encoding them takes; 0 where it is handed
/// over as it is. Stops counting beyond `enough`.
[[nodiscard]] std::uint64_t weigh(const message_encoder::parts& link, known_types& known, const message_view& content,
                                  std::uint64_t enough);

} // namespace troupe::internal
