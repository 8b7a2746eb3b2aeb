// A link's transport whose other end is a fuzzer's own thread: bytes come in the pieces that it chooses, and it knows
// when all that it has fed is handled.
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

/// How long anything may take that takes a millisecond, sanitizers and all, where the machine is busy.
inline constexpr std::chrono::seconds patience{20};

/// Threads: as transport says; the members of its own from the fuzzer's thread.
class pipe final : public troupe::internal::transport {
public:
  explicit pipe(asio::io_context& io) : io_(io) {}

  // -- the node's end

  void read_some(std::span<std::byte> into, std::function<void(std::error_code, std::size_t)> done) override;
  void write(std::span<const troupe::internal::bytes_view> pieces, std::function<void(std::error_code)> done) override;
  std::expected<std::size_t, std::error_code> write_now(std::span<const troupe::internal::bytes_view> pieces) override;
  void close() override;

  // -- the other end

  /// Hands over at most so many bytes at a time from now on.
  void set_piece_bytes(std::size_t most);
  void feed(troupe::internal::bytes_view bytes);
  /// Nothing more comes.
  void end();
  /// While stalled it takes nothing from the node.
  void set_stalled(bool stalled);

  /// Waits until the node has handled all that was fed, or has closed. Does not wait while stalled, since a link that
  /// has to end writes why.
  void wait_until_handled();
  /// Waits until the node has closed, or `condition` holds: it is asked whenever the node has written something, and
  /// takes that. False when neither is so within the patience.
  [[nodiscard]] bool wait_until_closed(const std::function<bool()>& condition = {});

  [[nodiscard]] bool is_closed() const;
  /// What the node has written since.
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
  std::function<void(std::error_code)> write_done_; // Of a write that waits while stalled.
  troupe::internal::byte_vector fed_;
  std::size_t fed_begin_ = 0;
  troupe::internal::byte_vector written_;
  std::size_t piece_bytes_ = SIZE_MAX;
  bool stalled_ = false;
  bool ended_ = false;
  bool closed_ = false;
};

} // namespace fuzz
