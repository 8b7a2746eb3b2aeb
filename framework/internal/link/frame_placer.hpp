// The places where the frames of a message travel.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>

#include <troupe/framework/internal/link/link_common.hpp>
#include <troupe/framework/internal/link/packed_message.hpp>
#include <troupe/framework/internal/wire/packet.hpp>
#include <troupe/framework/node_errc.hpp>
#include <troupe/serializers/frame.hpp>
#include <troupe/store/object_store.hpp>

namespace troupe::internal {

/// Gives each frame of a message its place: in the packet, in the shared store, or in chunks ahead of the message.
///
/// Threads: one. Reused from message to message.
class frame_placer {
public:
  /// Parts of one link; all must outlive the link's messages.
  struct parts {
    const link_common& link;
    const std::optional<store::object_store>& store;
    std::atomic<std::uint64_t>& next_transfer;
    std::atomic<std::uint64_t>& spilled_bytes;
    std::atomic<std::uint64_t>& store_fallbacks;
  };

  /// Starts a message of the link `of`. `cargo` must live until the next begin(), or as long as this object. If the
  /// link shares a store, frames of at least `spill_bytes` are put there.
  void begin(const parts& of, message_cargo& cargo, std::size_t spill_bytes) noexcept;

  /// Places a frame. If the bytes have an owner, `shared` is the frame. If the buffer is reused afterwards, `shared` is
  /// null. Fails with `link_down` if the peer's process is gone.
  [[nodiscard]] std::expected<frame_descriptor, node_error> place(bytes_view bytes, const frame* shared);

  /// Returns a frame that all links can use. It lies in the store if place() would put it there. `as` is the frame of
  /// these bytes, or null.
  [[nodiscard]] frame put_once(bytes_view bytes, const frame* as);

  // -- counters of this message

  [[nodiscard]] std::uint64_t socket_bytes() const noexcept { return inline_bytes_ + chunked_bytes_; }
  [[nodiscard]] std::uint64_t chunked_bytes() const noexcept { return chunked_bytes_; }
  [[nodiscard]] std::uint64_t bytes_in_store() const noexcept { return stored_bytes_; }

private:
  std::expected<std::optional<frame_descriptor>, node_error> place_in_store(bytes_view bytes, const frame* shared);

  const parts* of_ = nullptr;
  message_cargo* cargo_ = nullptr;
  std::size_t spill_bytes_ = 0;
  std::uint64_t inline_bytes_ = 0;
  std::uint64_t chunked_bytes_ = 0;
  std::uint64_t stored_bytes_ = 0;
};

} // namespace troupe::internal
