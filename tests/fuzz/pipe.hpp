// A link's transport whose other end is the fuzzer's own thread. The fuzzer chooses the size of the pieces in which
// bytes arrive, and learns when all fed bytes have been handled.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <vector>

#include <asio/io_context.hpp>

#include <troupe/framework/internal/net/transport.hpp>

namespace fuzz {

using namespace std::chrono_literals;

/// The deadline for an action that usually takes a millisecond: allows for sanitizers and a busy machine.
inline constexpr std::chrono::seconds patience{20};

/// Threads: as `transport` says; its own members are called by the fuzzer's thread.
class pipe final : public troupe::internal::transport {
public:
  explicit pipe(asio::io_context& io) : io_(io) {}

  // -- the node's end

  void read_some(std::span<std::byte> into, std::function<void(std::error_code, std::size_t)> done) override;
  void write(std::span<const troupe::internal::bytes_view> pieces, std::function<void(std::error_code)> done) override;
  std::expected<std::size_t, std::error_code> write_now(std::span<const troupe::internal::bytes_view> pieces) override;
  void close() override;

  // -- the other end

  /// From now on hands over at most `most` bytes at a time.
  void set_piece_bytes(std::size_t most);
  void feed(troupe::internal::bytes_view bytes);
  /// Ends the input: no more bytes come.
  void end();
  /// While stalled, takes no bytes from the node.
  void set_stalled(bool stalled);

  /// Waits until the node has handled all fed bytes, or has closed. Does not wait while stalled, since an ending link
  /// still writes its reason.
  void wait_until_handled();
  /// Waits until the node has closed or `condition` holds. Calls the condition whenever the node has written; it takes
  /// the bytes. Returns false if neither happens within `patience`.
  [[nodiscard]] bool wait_until_closed(const std::function<bool()>& condition = {});

  [[nodiscard]] bool is_closed() const;
  /// The bytes that the node has written since the last call.
  [[nodiscard]] troupe::internal::byte_vector take_written();

private:
  void hand_over();
  void append(std::span<const troupe::internal::bytes_view> pieces);

  asio::io_context& io_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  std::span<std::byte> into_;
  std::function<void(std::error_code, std::size_t)> read_done_;
  std::function<void(std::error_code)> write_done_; // The write that waits while stalled.
  troupe::internal::byte_vector fed_;
  std::size_t fed_begin_ = 0;
  troupe::internal::byte_vector written_;
  std::size_t piece_bytes_ = SIZE_MAX;
  bool stalled_ = false;
  bool ended_ = false;
  bool closed_ = false;
};

} // namespace fuzz
