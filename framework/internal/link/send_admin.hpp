// link_core::send_admin, for the files that use it.
#pragma once

#include <troupe/framework/internal/link/link_core.hpp>
#include <troupe/framework/internal/wire/admin.hpp>

namespace troupe::internal {

template <class Admin>
bool link_core::send_admin(admin_op op, const Admin& what) {
  if (!connection_)
    return false;
  auto body = encode_admin(what);
  return connection_->write([&](const link_held&, outbox& out) {
    out.append_packet(packet_kind::admin, static_cast<std::uint8_t>(op), body);
  });
}

/// The same where the lock is held already.
template <class Admin>
bool link_core::send_admin_locked(const link_held& held, admin_op op, const Admin& what) {
  auto* out = connection_ ? connection_->open_outbox(held) : nullptr;
  if (out == nullptr)
    return false;
  out->append_packet(packet_kind::admin, static_cast<std::uint8_t>(op), encode_admin(what));
  connection_->flush_soon(held);
  return true;
}

} // namespace troupe::internal
