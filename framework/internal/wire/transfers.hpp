// Frames that arrive in chunks, ahead of their message.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <span>
#include <unordered_map>

#include <troupe/base/salted_hash.hpp>
#include <troupe/framework/internal/wire/packet.hpp>
#include <troupe/framework/node_errc.hpp>
#include <troupe/serializers/frame.hpp>

namespace troupe::internal {

/// Bounds on a peer's transfers. Memory is charged when a transfer begins, before it is allocated.
struct transfer_limits {
  std::uint64_t frame_bytes_max;
  std::uint64_t total_bytes_max; // Of all transfers that no message has claimed.
  std::size_t count_max = 65'536;
};

/// The place for the rest of a chunk's bytes. Valid while `keeps` is held.
struct chunk_place {
  std::span<std::byte> rest = {};
  std::shared_ptr<const void> keeps = nullptr;
};

/// Threads: one, except `living_bytes`. Every failure is `protocol_violation`: a correct peer causes none.
class transfers {
public:
  explicit transfers(const transfer_limits& limits) : limits_(limits) {}

  std::expected<void, node_error> add_chunk(const chunk_head& head, bool first, bytes_view bytes);
  /// Begins a chunk of `chunk_bytes`, of which `begin` has arrived, and returns the place for the rest. The caller
  /// fills the place before it calls another member.
  [[nodiscard]] std::expected<chunk_place, node_error> begin_chunk(const chunk_head& head, bool first, bytes_view begin,
                                                                   std::size_t chunk_bytes);

  /// Removes and returns a complete frame of exactly this size.
  [[nodiscard]] std::expected<frame, node_error> claim(std::uint64_t number, std::uint64_t size_bytes);

  void clear();

  /// The bytes of all frames that have begun and are still alive, claimed or not. Any thread.
  [[nodiscard]] std::uint64_t living_bytes() const noexcept { return living_bytes_->load(std::memory_order_relaxed); }

private:
  class buffer;

  std::expected<std::shared_ptr<buffer>, node_error> find(const chunk_head& head, bool first, std::size_t chunk_bytes);

  transfer_limits limits_;
  std::unordered_map<std::uint64_t, std::shared_ptr<buffer>, detail::salted_hash> open_;
  std::uint64_t charged_bytes_ = 0;
  const std::shared_ptr<std::atomic<std::uint64_t>> living_bytes_ = std::make_shared<std::atomic<std::uint64_t>>(0);
};

} // namespace troupe::internal
