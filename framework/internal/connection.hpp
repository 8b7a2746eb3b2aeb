// Packets over a transport: writes what any thread appended in large batches, reads and cuts what arrives.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>

#include <troupe/framework/internal/outbox.hpp>
#include <troupe/framework/internal/transport.hpp>
#include <troupe/framework/node_error.hpp>

namespace troupe::internal {

/// Receives what a connection reads, on the I/O thread.
class connection_events {
public:
  virtual ~connection_events() = default;
  /// `body` is valid during the call. An error ends the connection, once what was written so far has left.
  virtual std::expected<void, node_error> on_packet(const packet_head& head, bytes_view body) = 0;
  /// Once, last. `reason` says which end closed and why.
  virtual void on_closed(const node_error& reason) = 0;
};

/// One connected transport.
///
/// Threads: start, admit_large_packets and the events on the I/O thread; the rest from any thread.
/// Lifetime: keeps its events alive until it is closed; must be closed before `io` ends.
class connection : public std::enable_shared_from_this<connection> {
public:
  connection(asio::io_context& io, std::shared_ptr<transport> bytes);
  ~connection();

  /// Writes and expects the preamble, then reads packets.
  void start(std::shared_ptr<connection_events> events);

  /// Calls `append(outbox&)` under the connection's lock and has the I/O thread write the result. After the end,
  /// `append` is not called and the answer is false.
  template <class Append>
  bool write(Append&& append) {
    std::lock_guard guard{mutex_};
    if (closing_)
      return false;
    append(waiting_);
    if (!flushing_ && !waiting_.empty()) {
      flushing_ = true;
      wake_writer(); // Under the lock: once closing_ is set, nothing is posted any more.
    }
    return true;
  }

  /// From now on packets may be as large as `packet_body_bytes_max`; before, `greeting_body_bytes_max`.
  void admit_large_packets() noexcept { body_bytes_max_ = packet_body_bytes_max; }

  /// Writes what is waiting, for `patience` at most, then closes with this reason.
  void close(node_error reason, std::chrono::milliseconds patience);

  /// Bytes that went through the socket, with heads and preamble.
  [[nodiscard]] std::uint64_t bytes_written() const noexcept { return bytes_written_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t bytes_read() const noexcept { return bytes_read_.load(std::memory_order_relaxed); }

private:
  void wake_writer();
  void write_next();
  void read_next();
  bool parse();
  std::expected<void, node_error> handle_preamble();
  std::expected<void, node_error> guarded_on_packet(const packet_head& head, bytes_view body);
  void stop_writing(node_error reason);
  void end_later(std::chrono::milliseconds patience);
  void end(const node_error& reason);

  asio::io_context& io_;

  std::mutex mutex_;
  outbox waiting_;        // Guarded by mutex_.
  bool flushing_ = false; // Guarded by mutex_: the I/O thread is writing, or about to.
  bool closing_ = false;  // Guarded by mutex_: nothing more is taken.

  // I/O thread only.
  std::shared_ptr<transport> bytes_;
  std::shared_ptr<connection_events> events_;
  outbox writing_;
  std::vector<bytes_view> pieces_;
  byte_vector read_buffer_;
  std::size_t read_begin_ = 0; // Parsed up to here.
  std::size_t read_end_ = 0;   // Filled up to here.
  bool greeted_ = false;       // The peer's preamble has come.
  std::size_t body_bytes_max_ = greeting_body_bytes_max;
  bool ended_ = false;
  std::optional<node_error> close_reason_; // Set while draining.
  std::unique_ptr<asio::steady_timer> drain_timer_;

  std::atomic<std::uint64_t> bytes_written_{0};
  std::atomic<std::uint64_t> bytes_read_{0};
};

} // namespace troupe::internal
