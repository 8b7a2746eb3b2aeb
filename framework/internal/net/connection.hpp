// Packets over a transport: writes what any thread appended, reads and cuts what arrives.
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

/// Packets that were handled together.
struct handled_packets {
  int packets = 0;
  std::size_t size_bytes = 0; // With their heads.
};

/// Receives what a connection reads, on the I/O thread, and gives it more to write.
class connection_events {
public:
  virtual ~connection_events() = default;
  /// `body` is valid during the call. An error ends the connection, once what was written so far has left.
  virtual std::expected<void, node_error> on_packet(const packet_head& head, bytes_view body) = 0;
  /// Handles the packets at the beginning of `bytes`, at most `packets_max`, as long as they are small and like one
  /// that came before; the first other one, also one that is not whole, is left to on_packet. An error ends the
  /// connection, as there.
  virtual std::expected<handled_packets, node_error> on_run(bytes_view /*bytes*/, int /*packets_max*/) {
    return handled_packets{};
  }
  /// The packet of a chunk has begun: its head, and some of its body. Gives where the rest of the body goes, which
  /// nobody hears of then; no place where the packet is to come as a whole. An error ends the connection, as there.
  virtual std::expected<chunk_place, node_error> on_chunk_begin(const packet_head& /*head*/, bytes_view /*begin*/) {
    return chunk_place{};
  }
  /// A packet came whose head says that it is none, or too large. The connection ends, once what was written so far has
  /// left, the answer to this included.
  virtual void on_bad_packet(const node_error& reason) = 0;
  /// All that has been read is handled.
  virtual void on_all_handled() = 0;
  /// Appends the next piece of what is too large to wait in the outbox; false when there is no more of it. Called on
  /// the I/O thread before each write.
  virtual bool refill(const link_held& held, outbox& out) = 0;
  /// Once, last. `reason` says which end closed and why; `unwritten` how many messages were appended and not written.
  /// Of those that were being written all count, though the first may have left.
  virtual void on_closed(const node_error& reason, std::uint64_t unwritten) = 0;
};

/// One connected transport.
///
/// Who writes: a thread that finds the connection idle writes by itself, since waking another thread is what costs
/// most; when something was written a moment ago, more is likely to follow, so bytes are gathered, and written by
/// whoever fills a batch, or by the I/O thread a tick later. On the I/O thread everything waits for the end of its
/// round of work (io_batch). One thread writes at a time.
///
/// Threads: start, admit_packets, session_key and the events on the I/O thread; the rest from any thread.
/// Lifetime: keeps its events alive until it is closed; must be closed before `io` ends.
class connection : public std::enable_shared_from_this<connection> {
public:
  /// `mutex` is shared with the events, so that a message's tables and its bytes change under one lock.
  connection(asio::io_context& io, std::shared_ptr<transport> bytes, std::shared_ptr<link_mutex> mutex);
  ~connection();

  /// Writes and expects the preamble, then reads packets.
  void start(std::shared_ptr<connection_events> events);

  /// Where to append, or null after the end; flush() or flush_soon() must follow.
  [[nodiscard]] outbox* open_outbox(const link_held&) noexcept { return closing_ ? nullptr : &waiting_; }

  /// Sees to it that what was appended is written, perhaps by the caller. Lets go of the lock.
  void flush(link_held& held);

  /// The same, but never writes by itself and keeps the lock.
  void flush_soon(const link_held& held);

  /// Has the I/O thread write, asking for refills.
  void write_refills(const link_held& held);

  /// Appends and flushes. After the end, `append` is not called and the answer is false.
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

  /// At the end of a round of work on the I/O thread, or when another thread goes on in its place: whoever appends
  /// next on the I/O thread is batched anew.
  void flush_batch();

  /// I/O thread. Writes what waited for this.
  tick_result tick();

  /// I/O thread. The next turn of what was read and not handled.
  void read_on();

  /// Appended and not taken by the transport, refills left out.
  [[nodiscard]] std::uint64_t unwritten_bytes(const link_held&) const noexcept {
    return waiting_.size_bytes() + writing_bytes_.load(std::memory_order_relaxed);
  }

  /// Grows whenever something is taken that had to wait for the peer to read.
  [[nodiscard]] std::uint64_t slices_taken() const noexcept { return slices_taken_.load(std::memory_order_relaxed); }

  /// How long bytes have waited for a peer that takes none; zero when none wait.
  [[nodiscard]] std::chrono::steady_clock::duration stalled() const;

  /// From now on a packet's body may be as large as this; at first, `unproven_body_bytes_max`.
  void admit_packets(std::size_t body_bytes_max) noexcept { body_bytes_max_ = body_bytes_max; }

  /// As the transport has it, which it then keeps; null where only bytes pass. Requires: not closed.
  [[nodiscard]] std::shared_ptr<value_lane> values() const {
    return bytes_->values() == nullptr ? nullptr : std::shared_ptr<value_lane>{bytes_, bytes_->values()};
  }

  /// Null where the bytes stay in the socket, and after the end. I/O thread.
  [[nodiscard]] ring_mover* rings() const noexcept { return bytes_ ? bytes_->rings() : nullptr; }

  /// The descriptor of the rings goes with the next byte that is appended.
  void append_descriptor(const link_held&) { marks_.push_back({waiting_.size_bytes(), true}); }
  /// What is appended from now on goes into the ring, behind what is before it.
  void move_output(const link_held&) { marks_.push_back({waiting_.size_bytes(), false}); }
  /// I/O thread, while a packet is handled: nothing but wake-ups comes behind it, and the next packets from the ring.
  void move_input();

  /// As the transport has it. Requires: not closed.
  [[nodiscard]] byte_vector session_key() const { return bytes_->session_key(); }
  [[nodiscard]] std::string near_host() const { return bytes_->near_host(); }

  /// As the transport has it. Requires: not closed.
  [[nodiscard]] const loopback_ends* loopback() const noexcept { return bytes_->loopback(); }

  /// Writes what is waiting, for `patience` at most, then closes with this reason.
  void close(node_error reason, std::chrono::milliseconds patience);

  /// I/O thread, but not in the events' calls. Closes at once, also what is being closed: nothing more is written, and
  /// the peer is not waited for.
  void abort(const node_error& reason) { end(reason); }

  /// Bytes that went through the socket, with heads and preamble.
  [[nodiscard]] std::uint64_t bytes_written() const noexcept { return bytes_written_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t bytes_read() const noexcept { return bytes_read_.load(std::memory_order_relaxed); }

private:
  enum class writer : std::uint8_t { nobody, caller, io_thread };

  /// What happens at a place in the bytes that are written.
  struct mark {
    std::size_t position;
    bool is_descriptor; // It goes with the byte there; else what comes goes into the ring.
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
  bool closing_ = false;       // Nothing more is taken.
  bool deferred_ = false;      // The bytes that wait leave at the next tick, or sooner with a full batch.
  bool ticking_ = false;       // The I/O thread looks again in a moment.
  bool batched_ = false;       // In an io_batch.
  bool refills_ = false;       // The events have more to write.
  write_pause pause_;          // Since all was written.
  std::vector<mark> marks_;    // In waiting_, in order.
  bool is_moving_ = false;     // The transport has been told to write into the ring.
  ring_mover* ring_ = nullptr; // Once it does.

  // Whoever is the writer.
  outbox writing_;
  std::vector<bytes_view> pieces_;

  std::mutex transport_mutex_; // Held by a caller that writes, and to take the transport away.
  std::shared_ptr<transport> bytes_;

  // I/O thread only.
  std::shared_ptr<connection_events> events_;
  byte_vector read_buffer_;
  std::size_t read_begin_ = 0;    // Parsed up to here.
  std::size_t read_end_ = 0;      // Filled up to here.
  chunk_place place_;             // Where the next bytes go instead; empty: nowhere.
  bool has_filled_place_ = false; // Since the last read into the buffer.
  bool greeted_ = false;          // The peer's preamble has come.
  std::size_t body_bytes_max_ = unproven_body_bytes_max;
  bool is_reading_ = false;   // A read is under way.
  bool is_lingering_ = false; // All is written; what comes is thrown away until the peer has closed.
  bool ended_ = false;
  std::uint64_t unwritten_ = 0;            // Messages that were given up.
  std::optional<node_error> close_reason_; // Set while draining.
  std::unique_ptr<io_timer> drain_timer_;
  int idle_ticks_ = 0; // In a row that found nothing to do.

  std::atomic<std::chrono::steady_clock::rep> stalled_since_{0}; // Zero: not stalled.
  std::atomic<std::uint64_t> slices_taken_{0};
  std::atomic<std::uint64_t> writing_bytes_{0}; // Of writing_, as far as the transport has not taken it.
  std::atomic<std::uint64_t> bytes_written_{0};
  std::atomic<std::uint64_t> bytes_read_{0};
};

} // namespace troupe::internal
