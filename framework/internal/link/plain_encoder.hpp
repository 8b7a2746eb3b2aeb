// Encodes small messages that hold nothing but values.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include <troupe/framework/internal/caf_port/messages.hpp>
#include <troupe/framework/internal/link/known_types.hpp>
#include <troupe/framework/internal/link/message_encoder.hpp>
#include <troupe/framework/internal/link/terms_cache.hpp>
#include <troupe/framework/internal/link/traffic.hpp>
#include <troupe/framework/internal/wire/packet.hpp>
#include <troupe/serializers/context.hpp>
#include <troupe/serializers/extend/encode_output.hpp>
#include <troupe/serializers/type_entry.hpp>

namespace troupe::internal {

/// A message with only plain elements. The peer knows their headers, and they name no actors and no objects.
struct plain_message {
  static constexpr std::size_t elements_max = known_signature::types_max;

  std::array<const type_entry*, elements_max> types = {};
  std::array<std::pair<traffic*, std::uint64_t>, elements_max> carried = {}; // Counters, null for none, and bytes.
  std::size_t size = 0;
  bytes_view elements = {};             // As they go into the packet.
  std::uint64_t peer_epoch = 0;         // sending_terms::peer_epoch
  known_signature* signature = nullptr; // The thread's cache of its signature.

  [[nodiscard]] std::span<const type_entry* const> signed_types() const noexcept {
    return std::span{types}.first(size);
  }
};

/// Encodes small messages that need nothing from their link but its definitions.
///
/// Threads: one. Reused from message to message.
class plain_encoder {
public:
  /// Messages with larger elements are not plain.
  static constexpr std::size_t bytes_max = 1024;

  /// `known` must outlive this object.
  explicit plain_encoder(known_types& known) : known_(known) {}

  /// Returns null if the message is not plain, if a header is not defined for the peer yet, or if the encoding has to
  /// be timed. The result is valid until the next call. Requires: not in_use().
  [[nodiscard]] const plain_message* encode(const message_encoder::parts& link, const newest_terms& newest,
                                            const caf::mailbox_element& what);
  /// True while a codec sends something during encoding.
  [[nodiscard]] bool in_use() const noexcept { return in_use_; }

private:
  [[nodiscard]] bool take_types(const message_encoder::parts& link, const message_view& content, const family& by);
  [[nodiscard]] bool take_values(const message_view& content, std::span<const family* const> by);
  void skip_next(const message_encoder::parts& link, const message_view& content);
  void use(const sending_terms& terms);

  known_types& known_;
  terms_cache terms_;
  context context_;                 // Copied from the terms.
  std::uint64_t context_terms_ = 0; // sending_terms::number
  encode_output output_;
  byte_buffer elements_;
  std::array<std::uint64_t, plain_message::elements_max> headers_ = {};
  plain_message made_;
  std::size_t owned_bytes_ = 0; // The estimated memory of the message's values here ...
  std::size_t taken_bytes_ = 0; // ... and at the receiver, once they are decoded.
  bool in_use_ = false;
};

} // namespace troupe::internal
