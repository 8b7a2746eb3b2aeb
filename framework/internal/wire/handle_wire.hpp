// Encodes the messages of the handle protocol as admin messages. The document: framework/handle-protocol.md.
#pragma once

#include <cstdint>
#include <expected>
#include <utility>

#include <troupe/framework/internal/handles/messages.hpp>
#include <troupe/framework/internal/wire/admin.hpp>
#include <troupe/framework/internal/wire/packet.hpp>
#include <troupe/framework/node_errc.hpp>
#include <troupe/serializers/limits.hpp>

namespace troupe::internal {

[[nodiscard]] constexpr bool is_about_handles(admin_op op) {
  return op >= admin_op::release_handle && op <= admin_op::handle_lost;
}

struct handle_packet {
  admin_op op{};
  byte_vector body;
};

[[nodiscard]] handle_packet encode_handle_message(const handles::message& what);

/// Fails with `protocol_violation` if the message cannot be read or has a value that does not exist. Requires:
/// is_about_handles(op).
[[nodiscard]] std::expected<handles::message, node_error> decode_handle_message(admin_op op, bytes_view body,
                                                                                const limits& bounds);

} // namespace troupe::internal
