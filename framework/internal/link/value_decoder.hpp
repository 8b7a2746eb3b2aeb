// Decodes the payloads of a message.
#pragma once

#include <cstddef>
#include <expected>
#include <span>
#include <string>
#include <string_view>

#include <troupe/framework/internal/caf_port/decoded_message.hpp>
#include <troupe/framework/internal/link/acceptance.hpp>
#include <troupe/framework/internal/link/admin_output.hpp>
#include <troupe/framework/internal/link/incoming_message.hpp>
#include <troupe/framework/internal/link/received_dictionary.hpp>
#include <troupe/framework/internal/link/traffic.hpp>
#include <troupe/framework/internal/objects/codec_mentions.hpp>
#include <troupe/framework/node_errc.hpp>
#include <troupe/serializers/context.hpp>

namespace troupe::internal {

/// Decodes the values of messages. Fails with `undecodable`, or with `protocol_violation` if the link has to end.
///
/// Threads: one.
class value_decoder {
public:
  /// `own_name`: the name of this node. `admin` tells the peer of types that cannot be read. `counts`: null if nothing
  /// is counted. All must outlive this object.
  value_decoder(std::string_view own_name, acceptance& accepted, const received_dictionary& known,
                traffic_table* counts, admin_output& admin)
      : own_name_(own_name), accepted_(accepted), known_(known), counts_(counts), admin_(admin) {}

  /// To be called with the agreed context. Families and circles come from the acceptance.
  void open(const context& of_link);

  /// Decodes all elements of the message. Returns the memory that the values take.
  std::expected<std::size_t, node_error> decode(std::span<received_element> elements, const signature& types,
                                                message_under_construction& into);
  /// As above, for a message with plain elements of known types.
  std::expected<std::size_t, node_error> decode(std::span<const plain_element> elements, const signature& types,
                                                message_under_construction& into);
  /// As above, for a message with one plain element whose header is known. Requires: reads(header, type).
  std::expected<std::size_t, node_error> decode(const received_header& header, const type_entry& type, bytes_view body,
                                                message_under_construction& into);
  [[nodiscard]] static bool reads(const received_header& header, const type_entry& type) noexcept {
    return header.type.get() == &type || header.fields.type == type.alias();
  }

private:
  void begin(std::size_t elements);
  std::expected<void, node_error> decode_element(received_element& element, const type_entry& type,
                                                 std::string_view alias, message_under_construction& into);
  std::expected<void, node_error> keep_raw(const received_header& header, const type_entry& type,
                                           std::string_view alias, std::span<const frame> frames,
                                           message_under_construction& into);
  std::expected<void, node_error> decode_value_of(const received_header& header, const type_entry& type,
                                                  std::span<const frame> frames, codec_mentions& extension,
                                                  message_under_construction& into);
  void refuse(const std::string& alias, const type_entry* known);

  const std::string_view own_name_;
  acceptance& accepted_;
  const received_dictionary& known_;
  traffic_table* const counts_;
  admin_output& admin_;
  limits bounds_;               // The bounds of a whole message.
  context context_;             // For the message that is being decoded.
  std::size_t taken_bytes_ = 0; // Memory of its values so far.
};

} // namespace troupe::internal
