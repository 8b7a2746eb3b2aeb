// Frames that arrive in chunks, ahead of the message that they belong to.
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

/// What a peer may have under way. Memory is charged when a transfer begins, before it is allocated.
struct transfer_limits {
  std::uint64_t frame_bytes_max;
  std::uint64_t total_bytes_max; // Of all transfers that no message has claimed yet.
  std::size_t count_max = 65'536;
};

/// Where the rest of a chunk's bytes goes. Valid as long as `keeps` is kept.
struct chunk_place {
  std::span<std::byte> rest = {};
  std::shared_ptr<const void> keeps = nullptr;
};

/// Threads: one, but for `living_bytes`. Every failure is `protocol_violation`: a peer that keeps to the protocol
/// causes none.
class transfers {
public:
  explicit transfers(const transfer_limits& limits) : limits_(limits) {}

  std::expected<void, node_error> add_chunk(const chunk_head& head, bool first, bytes_view bytes);
  /// The same for a chunk of so many bytes, of which these have come; the caller then fills the place, before it calls
  /// anything else here.
  [[nodiscard]] std::expected<chunk_place, node_error> begin_chunk(const chunk_head& head, bool first, bytes_view begin,
                                                                   std::size_t chunk_bytes);

  /// Takes a complete frame of exactly this size out.
  [[nodiscard]] std::expected<frame, node_error> claim(std::uint64_t number, std::uint64_t size_bytes);

  void clear();

  /// Of all frames that have begun and still live somewhere, claimed or not. Any thread.
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
