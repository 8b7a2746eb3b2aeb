// link_core::send_admin, for the files that use it.
#pragma once

#include <troupe/framework/internal/link_core.hpp>
#include <troupe/serializers/msgpack/described.hpp>

namespace troupe::internal {

template <class Admin>
bool link_core::send_admin(admin_op op, const Admin& what) {
  if (!connection_)
    return false;
  auto body = msgpack::encode_described(what);
  return connection_->write(
      [&](outbox& out) { out.append_packet(packet_kind::admin, static_cast<std::uint8_t>(op), body); });
}

} // namespace troupe::internal
