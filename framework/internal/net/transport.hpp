// Transports carry a link's bytes in order, with gathered writes. Everything except write_now() runs on the node's I/O
// thread.
#pragma once

#include <any>
#include <cstddef>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <vector>

#include <troupe/framework/internal/trust/authentication.hpp>
#include <troupe/framework/internal/wire/packet.hpp>

namespace troupe::internal {

class loopback_ends;
class ring_memory;

/// Errors of admission: why a peer was not admitted, or did not admit this end, before any byte was read.
[[nodiscard]] const std::error_category& admission_category();

/// Carries values unencoded beside the bytes, if both ends are in one process. Values come out in the order of push().
/// A packet tells when the next one is due.
class value_lane {
public:
  virtual ~value_lane() = default;
  /// Any thread, also under the link's lock, so it destroys nothing and does not block. Moves the value from `value`,
  /// unless this connection has ended.
  virtual void push(std::any& value) = 0;
  /// I/O thread. Empty if there is none.
  [[nodiscard]] virtual std::any pop() = 0;
};

/// Moves the bytes of a connection from its socket into rings: one direction after the other, each at a moment that its
/// writer chooses. Positions count from the next byte that is written.
class ring_mover {
public:
  virtual ~ring_mover() = default;

  /// I/O thread. Permits the peer to send one descriptor from now on. The system closes any other descriptor that
  /// arrives.
  virtual void expect_descriptor() = 0;
  /// I/O thread. Returns the descriptor that arrived, which the caller closes. -1 if none has arrived.
  [[nodiscard]] virtual int take_descriptor() = 0;
  /// I/O thread. Called once, before anything moves.
  virtual void set_rings(ring_memory rings, link_side side) = 0;
  /// I/O thread. The peer has declined, so nothing will move.
  virtual void drop_rings() = 0;
  /// I/O thread, while no read is in progress. Reads from the ring from now on.
  virtual void move_input() = 0;

  /// Between two writes. Sends the descriptor of the rings with the byte at that position.
  virtual void send_descriptor_at(std::size_t position) = 0;
  /// Between two writes. Bytes from that position on go into the ring.
  virtual void move_output_at(std::size_t position) = 0;
  /// Any thread.
  [[nodiscard]] virtual bool writes_to_ring() const noexcept = 0;

  /// The result of a put.
  struct put_result {
    std::size_t bytes = 0;
    bool has_to_wake = false; // The caller has to call wake_peer().
  };
  /// Like write_now(), without a system call. Requires: writes_to_ring().
  [[nodiscard]] virtual std::expected<put_result, std::error_code> put(bytes_view bytes) = 0;
  /// Whether the peer has read everything that was put. Requires: writes_to_ring().
  [[nodiscard]] virtual bool peer_has_all() const = 0;
  /// Any thread, while the transport is not closed.
  virtual void wake_peer() = 0;
};

/// The addresses of the two ends of a connection. Empty for an end that has none.
struct end_addresses {
  std::string near;
  std::string far;
};

/// The bytes of one connection, in both directions. At most one read and one write are in progress at a time. Each
/// keeps the transport alive until its callback, also after close().
class transport {
public:
  virtual ~transport() = default;

  /// Reads at least one byte into `into`, then calls `done` with the number of bytes, or with an error at the end of
  /// the stream.
  virtual void read_some(std::span<std::byte> into, std::function<void(std::error_code, std::size_t)> done) = 0;

  /// Writes all of `pieces` in order, then calls `done`. The bytes must live until then; the list of pieces need not.
  virtual void write(std::span<const bytes_view> pieces, std::function<void(std::error_code)> done) = 0;

  /// After write() has called back: whether the kernel took nothing for a while, so that the peer must have read since.
  /// Transports with a write_now() have always waited, because write() gets only the bytes that write_now() did not
  /// take.
  [[nodiscard]] virtual bool has_waited() const noexcept { return true; }

  /// Any thread, but never during another write of this transport or its close(). Writes what the kernel takes at once,
  /// and returns the number of bytes. 0 if the kernel takes nothing now, or if this transport writes only on the I/O
  /// thread.
  virtual std::expected<std::size_t, std::error_code> write_now(std::span<const bytes_view> pieces) = 0;

  /// Bytes that the two ends derive from the connection's encryption and that no one else knows. Empty without
  /// encryption. Available once anything was read.
  [[nodiscard]] virtual byte_vector session_key() const { return {}; }

  /// The names in the peer's certificate, as certificate_names_of() in trust/tls_context.hpp gives them. Empty if the
  /// peer has shown none. Available once anything was read, until close().
  [[nodiscard]] virtual std::vector<std::string> certificate_names() const { return {}; }

  /// The connection's addresses, if it is unencrypted and within this host; otherwise null. They live as long as the
  /// transport.
  [[nodiscard]] virtual const loopback_ends* loopback() const noexcept { return nullptr; }

  /// Requires: not closed.
  [[nodiscard]] virtual end_addresses addresses() const { return {}; }

  /// This end's numeric address. Empty if the connection uses no network. Any thread. It never changes.
  [[nodiscard]] virtual std::string near_host() const { return {}; }

  /// Null if the transport carries only bytes. Lives as long as the transport.
  [[nodiscard]] virtual value_lane* values() noexcept { return nullptr; }

  /// Null if the transport has no rings. Lives as long as the transport.
  [[nodiscard]] virtual ring_mover* rings() noexcept { return nullptr; }

  /// Tells the peer that nothing more will be written. Returns true if this end must read on until the peer has closed
  /// as well, because otherwise the bytes written before may not arrive.
  [[nodiscard]] virtual bool finish_writing() { return false; }

  /// Ends the connection. Pending operations call back with an error. Idempotent.
  virtual void close() = 0;
};

} // namespace troupe::internal
