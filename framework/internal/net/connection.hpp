// Packets over a transport. Writes the bytes that any thread has appended. Reads the bytes that arrive and splits them
// into packets.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include <troupe/framework/internal/net/link_mutex.hpp>
#include <troupe/framework/internal/net/transport.hpp>
#include <troupe/framework/internal/net/write_pause.hpp>
#include <troupe/framework/internal/threads/io_timer.hpp>
#include <troupe/framework/internal/wire/outbox.hpp>
#include <troupe/framework/internal/wire/transfers.hpp>
#include <troupe/framework/node_errc.hpp>

namespace troupe::internal {

enum class tick_result : std::uint8_t;

/// The result of handling several packets at once.
struct handled_packets {
  int packets = 0;
  std::size_t size_bytes = 0; // With their heads.
};

/// Handles the packets that a connection reads, and supplies refills to write. Called on the I/O thread.
class connection_events {
public:
  virtual ~connection_events() = default;
  /// `body` is valid during the call. An error ends the connection, after everything appended so far has been written.
  virtual std::expected<void, node_error> on_packet(const packet_head& head, bytes_view body) = 0;
  /// Handles packets at the beginning of `bytes`, at most `packets_max`, as long as each is small and like an earlier
  /// one. Stops at the first other packet and at an incomplete one, which on_packet then handles. An error ends the
  /// connection as in on_packet().
  virtual std::expected<handled_packets, node_error> on_run(bytes_view /*bytes*/, int /*packets_max*/) {
    return handled_packets{};
  }
  /// The packet of a chunk has begun, with its head and some of its body. Returns the place into which the connection
  /// reads the rest of the body, without further calls. Returns no place if the whole packet has to be passed to
  /// on_packet(). An error ends the connection as in on_packet().
  virtual std::expected<chunk_place, node_error> on_chunk_begin(const packet_head& /*head*/, bytes_view /*begin*/) {
    return chunk_place{};
  }
  /// A packet head is invalid, or its body is too large. The connection ends after everything that was appended so far,
  /// including the answer to this, has been written.
  virtual void on_bad_packet(const node_error& reason) = 0;
  /// All packets that were read so far are handled.
  virtual void on_all_handled() = 0;
  /// Appends the next piece of data that is too large to wait in the outbox. Returns false if none is left. Called on
  /// the I/O thread before each write.
  virtual bool refill(const link_held& held, outbox& out) = 0;
  /// Called once, as the last event. `reason` tells which end closed the connection, and why. `unwritten` is the number
  /// of messages that were appended and not written. If a write was completed in part, all its messages count, although
  /// the first of them may have left.
  virtual void on_closed(const node_error& reason, std::uint64_t unwritten) = 0;
};

/// One connected transport.
///
/// Writing: a thread that finds the connection idle writes by itself, because waking another thread costs most. If
/// something was written a moment ago, more is likely to follow. Then bytes are gathered, and the thread that fills a
/// batch writes them, or the I/O thread one tick later. On the I/O thread all writes wait for the end of its round of
/// work (io_batch). One thread writes at a time.
///
/// Threads: start, admit_packets, session_key and the events on the I/O thread; the rest on any thread.
/// Lifetime: keeps its events alive until it is closed; must be closed before `io` ends.
class connection : public std::enable_shared_from_this<connection> {
public:
  /// The events share `mutex`, so that a message's tables and its bytes change under one lock.
  connection(asio::io_context& io, std::shared_ptr<transport> bytes, std::shared_ptr<link_mutex> mutex);
  ~connection();

  /// Writes the preamble, expects the peer's, then reads packets.
  void start(std::shared_ptr<connection_events> events);

  /// Returns the outbox to append to, or null after the end. After appending, call flush() or flush_soon().
  [[nodiscard]] outbox* open_outbox(const link_held&) noexcept { return closing_ ? nullptr : &waiting_; }

  /// Shows each packet that is appended from now on to the tap. Requires: the tap `who` lives until the last event.
  void tap(const link_held&, packet_tap* who) noexcept { waiting_.tap(who); }

  /// Writes what was appended, on this thread or another one. Releases the lock.
  void flush(link_held& held);

  /// Like flush(), but never writes on this thread, and keeps the lock.
  void flush_soon(const link_held& held);

  /// Lets the I/O thread write and request refills.
  void write_refills(const link_held& held);

  /// Appends and flushes. After the end, returns false without calling `append`.
  template <class Append>
  bool write(Append&& append) {
    auto held = mutex_->lock();
    auto* out = open_outbox(held);
    if (out == nullptr)
      return false;
    append(held, *out);
    flush(held);
    return true;
  }

  /// Called at the end of a round of work on the I/O thread, or when another thread takes the round over. The next
  /// append on the I/O thread then joins a new batch.
  void flush_batch();

  /// I/O thread. Writes bytes that wait for a tick.
  tick_result tick();

  /// I/O thread. Handles the next turn of the packets that were read and are not handled yet.
  void read_on();

  /// The bytes that were appended and that the transport has not taken, without refills.
  [[nodiscard]] std::uint64_t unwritten_bytes(const link_held&) const noexcept {
    return waiting_.size_bytes() + writing_bytes_.load(std::memory_order_relaxed);
  }

  /// Grows each time the transport takes bytes that had to wait for the peer to read.
  [[nodiscard]] std::uint64_t slices_taken() const noexcept { return slices_taken_.load(std::memory_order_relaxed); }

  /// For how long bytes have waited for a peer that takes none; zero if none wait.
  [[nodiscard]] std::chrono::steady_clock::duration stalled() const;

  /// Sets the maximum body of a packet; `unproven_body_bytes_max` until then.
  void admit_packets(std::size_t body_bytes_max) noexcept { body_bytes_max_ = body_bytes_max; }

  /// The transport's lane for values, which keeps the transport alive. Null if the transport carries only bytes.
  /// Requires: not closed.
  [[nodiscard]] std::shared_ptr<value_lane> values() const {
    return bytes_->values() == nullptr ? nullptr : std::shared_ptr<value_lane>{bytes_, bytes_->values()};
  }

  /// I/O thread. Null if the link has no rings, and after the end.
  [[nodiscard]] ring_mover* rings() const noexcept { return bytes_ ? bytes_->rings() : nullptr; }

  /// Sends the descriptor of the rings with the next byte that is appended.
  void append_descriptor(const link_held&) { marks_.push_back({waiting_.size_bytes(), true}); }
  /// Bytes appended from now on go into the ring, after the bytes before them.
  void move_output(const link_held&) { marks_.push_back({waiting_.size_bytes(), false}); }
  /// I/O thread, in a call of on_packet(). Reads the next packets from the ring. The socket then brings only wake-ups.
  void move_input();

  /// The transport's. Requires: not closed.
  [[nodiscard]] byte_vector session_key() const { return bytes_->session_key(); }
  [[nodiscard]] std::vector<std::string> certificate_names() const { return bytes_->certificate_names(); }
  [[nodiscard]] std::string near_host() const { return bytes_->near_host(); }

  /// The transport's. Requires: not closed.
  [[nodiscard]] const loopback_ends* loopback() const noexcept { return bytes_->loopback(); }

  /// Writes waiting bytes for at most `patience`, then closes with this reason.
  void close(node_error reason, std::chrono::milliseconds patience);

  /// I/O thread, outside of the events' calls. Closes at once, even while a close is in progress. Writes nothing more,
  /// and does not wait for the peer.
  void abort(const node_error& reason) { end(reason); }

  /// Bytes through the socket, including heads and the preamble.
  [[nodiscard]] std::uint64_t bytes_written() const noexcept { return bytes_written_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t bytes_read() const noexcept { return bytes_read_.load(std::memory_order_relaxed); }

private:
  enum class writer : std::uint8_t { nobody, caller, io_thread };

  /// A change at a position in the written bytes.
  struct mark {
    std::size_t position;
    bool is_descriptor; // Send the descriptor with the byte there; false: later bytes go into the ring.
  };

  // Writing.
  void write_by_caller(link_held& held);
  [[nodiscard]] bool writes_to_ring(const link_held& held);
  void put_into_ring(link_held& held);
  void write_waiting(link_held& held);
  void wait_for_more(const link_held& held);
  void wake_peer();
  void hand_rest_to_io_thread(std::expected<std::size_t, std::error_code> written);
  void hand_to_io_thread(const link_held& held);
  void start_ticking(const link_held& held);
  void write_by_io_thread();
  [[nodiscard]] bool write_once();
  void write_rest(std::size_t written);
  void gather_behind(std::size_t written, std::size_t bytes_max);
  void take_waiting(const link_held& held);
  [[nodiscard]] std::expected<std::size_t, std::error_code> write_now();
  void stop_writing(node_error reason);
  void end_later(std::chrono::milliseconds patience);
  void end_when_read();
  void end(const node_error& reason);

  // Reading.
  void read_next();
  [[nodiscard]] std::span<std::byte> next_place();
  void on_read(std::size_t count);
  enum class parsed : std::uint8_t { more_bytes_wanted, turn_over, closing };
  void go_on_reading();
  [[nodiscard]] parsed parse();
  std::expected<void, node_error> handle_preamble();
  std::expected<void, node_error> guarded_on_packet(const packet_head& head, bytes_view body);
  std::expected<handled_packets, node_error> guarded_on_run(int packets_max);
  std::expected<bool, node_error> reads_into_place(const packet_head& head);
  void close_for(const node_error& failure);

  asio::io_context& io_;
  const std::shared_ptr<link_mutex> mutex_;

  // Guarded by *mutex_.
  outbox waiting_;
  writer writer_ = writer::nobody;
  bool closing_ = false;       // Appending is refused.
  bool deferred_ = false;      // Waiting bytes leave at the next tick, or earlier with a full batch.
  bool ticking_ = false;       // The I/O thread checks again at the next tick.
  bool batched_ = false;       // In an io_batch.
  bool refills_ = false;       // The events have more to write.
  write_pause pause_;          // Since everything was written.
  std::vector<mark> marks_;    // In the order of positions in waiting_.
  bool is_moving_ = false;     // The transport was told to write into the ring.
  ring_mover* ring_ = nullptr; // Set once the transport writes into the ring.

  // Touched only by the current writer.
  outbox writing_;
  std::vector<bytes_view> pieces_;

  std::mutex transport_mutex_; // Held by a caller while it writes, and while the transport is removed.
  std::shared_ptr<transport> bytes_;

  // I/O thread only.
  std::shared_ptr<connection_events> events_;
  byte_vector read_buffer_;
  std::size_t read_begin_ = 0;    // Parsed up to here.
  std::size_t read_end_ = 0;      // Filled up to here.
  chunk_place place_;             // Where the next bytes go instead; empty: into the buffer.
  bool has_filled_place_ = false; // Since the last read into the buffer.
  bool greeted_ = false;          // The peer's preamble has come.
  std::size_t body_bytes_max_ = unproven_body_bytes_max;
  bool is_reading_ = false;   // A read is under way.
  bool is_lingering_ = false; // Everything is written; incoming bytes are discarded until the peer has closed.
  bool ended_ = false;
  std::uint64_t unwritten_ = 0;            // Messages that will not be written.
  std::optional<node_error> close_reason_; // Set while draining.
  std::unique_ptr<io_timer> drain_timer_;
  int idle_ticks_ = 0; // Consecutive ticks that found nothing to do.

  std::atomic<std::chrono::steady_clock::rep> stalled_since_{0}; // Zero: not stalled.
  std::atomic<std::uint64_t> slices_taken_{0};
  std::atomic<std::uint64_t> writing_bytes_{0}; // Bytes of writing_ that the transport has not taken.
  std::atomic<std::uint64_t> bytes_written_{0};
  std::atomic<std::uint64_t> bytes_read_{0};
};

} // namespace troupe::internal
