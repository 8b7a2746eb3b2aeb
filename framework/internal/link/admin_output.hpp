// Sends the admin packets of a link's parts to the peer.
#pragma once

#include <cstdint>
#include <memory>

#include <troupe/framework/internal/net/connection.hpp>
#include <troupe/framework/internal/net/link_mutex.hpp>
#include <troupe/framework/internal/wire/admin.hpp>
#include <troupe/framework/internal/wire/outbox.hpp>
#include <troupe/framework/internal/wire/packet.hpp>

namespace troupe::internal {

/// Sends admin packets to the peer of a link.
///
/// Threads: any.
class admin_output {
public:
  /// `mutex` guards the outbox to which packets are appended.
  explicit admin_output(link_mutex& mutex) : mutex_(mutex) {}
  admin_output(const admin_output&) = delete;
  admin_output& operator=(const admin_output&) = delete;
  virtual ~admin_output() = default;

  /// Sends `what`. The calling thread may write the connection itself. Returns false if the link is closed for output.
  template <class Admin>
  bool send(admin_op op, const Admin& what) {
    const auto body = encode_admin(what);
    auto held = mutex_.lock();
    auto* out = open_outbox(held);
    if (out == nullptr)
      return false;
    append_body(*out, op, body);
    flush(held);
    return true;
  }
  /// As above with the lock already held. The calling thread does not write the connection.
  template <class Admin>
  bool send(const link_held& held, admin_op op, const Admin& what) {
    auto* out = open_outbox(held);
    if (out == nullptr)
      return false;
    append(*out, op, what);
    flush_soon(held);
    return true;
  }
  /// Appends to `out`, which the caller flushes.
  template <class Admin>
  static void append(outbox& out, admin_op op, const Admin& what) {
    append_body(out, op, encode_admin(what));
  }

protected:
  /// Returns null if the link is closed for output.
  [[nodiscard]] virtual outbox* open_outbox(const link_held& held) = 0;
  virtual void flush_soon(const link_held& held) = 0;
  /// Releases the lock.
  virtual void flush(link_held& held) = 0;

private:
  static void append_body(outbox& out, admin_op op, bytes_view body) {
    out.append_packet(packet_kind::admin, static_cast<std::uint8_t>(op), body);
  }

  link_mutex& mutex_;
};

/// Sends admin packets over a connection, once there is one.
class connection_admin_output final : public admin_output {
public:
  /// `over` must outlive this object; it is null before the link starts.
  connection_admin_output(link_mutex& mutex, const std::shared_ptr<connection>& over)
      : admin_output(mutex), over_(over) {}

protected:
  outbox* open_outbox(const link_held& held) override { return over_ ? over_->open_outbox(held) : nullptr; }
  void flush_soon(const link_held& held) override { over_->flush_soon(held); }
  void flush(link_held& held) override { over_->flush(held); }

private:
  const std::shared_ptr<connection>& over_;
};

} // namespace troupe::internal
