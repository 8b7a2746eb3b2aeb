// What carries a link's bytes: in order, with gathered writes. All but write_now() runs on the node's I/O thread.
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

#include <troupe/framework/internal/trust/authentication.hpp>
#include <troupe/framework/internal/wire/packet.hpp>

namespace troupe::internal {

class loopback_ends;
class ring_memory;

/// Errors that say why a peer was not let in, or did not let this end in, before any byte was read.
[[nodiscard]] const std::error_category& admission_category();

/// Values that go beside the bytes as they are, where both ends are in one process. They come out in the order in
/// which they were pushed; a packet tells when the next one is due.
class value_lane {
public:
  virtual ~value_lane() = default;
  /// Any thread, also under the link's lock: drops nothing and does not wait. Takes the value, unless this connection
  /// has ended.
  virtual void push(std::any& value) = 0;
  /// I/O thread. Empty where none was pushed.
  [[nodiscard]] virtual std::any pop() = 0;
};

/// Moves the bytes of a connection from its socket into rings: first those of one direction, at a moment of its
/// writer's, then those of the other. Positions count from the next byte that is written.
class ring_mover {
public:
  virtual ~ring_mover() = default;

  /// I/O thread. The peer may send one descriptor from now on; without this, what it sends is closed by the system.
  virtual void expect_descriptor() = 0;
  /// I/O thread. What has come, which the caller closes; -1 for none.
  [[nodiscard]] virtual int take_descriptor() = 0;
  /// I/O thread; once, before anything moves.
  virtual void set_rings(ring_memory rings, link_side side) = 0;
  /// I/O thread. Nothing will move: the peer has declined.
  virtual void drop_rings() = 0;
  /// I/O thread, and not while a read is under way: what is read comes from the ring.
  virtual void move_input() = 0;

  /// Between two writes. The descriptor of the rings goes with the byte at that position.
  virtual void send_descriptor_at(std::size_t position) = 0;
  /// Between two writes. From that position on what is written goes into the ring.
  virtual void move_output_at(std::size_t position) = 0;
  /// Any thread.
  [[nodiscard]] virtual bool writes_to_ring() const noexcept = 0;

  /// What a put came to.
  struct put_result {
    std::size_t bytes = 0;
    bool has_to_wake = false; // wake_peer() must follow.
  };
  /// As write_now(), where writes_to_ring(): no system call.
  [[nodiscard]] virtual std::expected<put_result, std::error_code> put(bytes_view bytes) = 0;
  /// As put(). Whether the peer has read all that was put.
  [[nodiscard]] virtual bool peer_has_all() const = 0;
  /// Any thread, not while the transport is closed.
  virtual void wake_peer() = 0;
};

/// Where the two ends of a connection are, as addresses; empty for an end without one.
struct end_addresses {
  std::string near;
  std::string far;
};

/// One connection's bytes, both ways. At most one read and one write are under way at a time, and each keeps the
/// transport alive until it has called back, also after close().
class transport {
public:
  virtual ~transport() = default;

  /// Reads at least one byte into `into`, then calls `done` with how many; with an error at the end of the stream.
  virtual void read_some(std::span<std::byte> into, std::function<void(std::error_code, std::size_t)> done) = 0;

  /// Writes all of `pieces` in order, then calls `done`. The bytes must stay until then, the list of pieces need not.
  virtual void write(std::span<const bytes_view> pieces, std::function<void(std::error_code)> done) = 0;

  /// Once write() has called back: whether the kernel took nothing for a while, so that the peer has read since. A
  /// transport with a write_now() always waits: it is given only the bytes that write_now() did not take.
  [[nodiscard]] virtual bool has_waited() const noexcept { return true; }

  /// Any thread, but never while another write of this transport is under way, nor while it is closed: writes at once
  /// what the kernel takes, and gives how many bytes that was; 0 when it takes nothing now, or when this transport
  /// writes on the I/O thread only.
  virtual std::expected<std::size_t, std::error_code> write_now(std::span<const bytes_view> pieces) = 0;

  /// Bytes that the two ends of this connection derive from its encryption and nobody else knows; empty without one.
  /// There once anything was read.
  [[nodiscard]] virtual byte_vector session_key() const { return {}; }

  /// The connection's addresses, where it is a plain one within this host; null otherwise. Lives as long as the
  /// transport.
  [[nodiscard]] virtual const loopback_ends* loopback() const noexcept { return nullptr; }

  /// Before close().
  [[nodiscard]] virtual end_addresses addresses() const { return {}; }

  /// This end's address in numbers; empty where the connection uses no network. Any thread, never changes.
  [[nodiscard]] virtual std::string near_host() const { return {}; }

  /// Null where only bytes pass. Lives as long as the transport.
  [[nodiscard]] virtual value_lane* values() noexcept { return nullptr; }

  /// Null where the bytes stay where they are. Lives as long as the transport.
  [[nodiscard]] virtual ring_mover* rings() noexcept { return nullptr; }

  /// Tells the peer that nothing more will be written. True where what was written before is only sure to arrive when
  /// this end reads on until the peer has closed, too.
  [[nodiscard]] virtual bool finish_writing() { return false; }

  /// Ends the connection; what is under way is called back with an error. Idempotent.
  virtual void close() = 0;
};

} // namespace troupe::internal
