// Where the frames of a message are.
#pragma once

#include <cstdint>
#include <expected>

#include <troupe/framework/internal/link/mention_finder.hpp>
#include <troupe/framework/internal/wire/packet.hpp>
#include <troupe/framework/internal/wire/transfers.hpp>
#include <troupe/framework/node_errc.hpp>
#include <troupe/serializers/frame.hpp>

namespace troupe::internal {

/// Claims the frames that messages name: each goes to one message.
///
/// Threads: one, but for `living_bytes`.
class frame_claims {
public:
  /// `stored` has those that lie in the store of both ends; it outlives this.
  frame_claims(const transfer_limits& bounds, mention_finder& stored) : transfers_(bounds), stored_(stored) {}

  /// A packet with a part of a frame that goes ahead of its message.
  std::expected<void, node_error> on_chunk(std::uint8_t flags, bytes_view body);

  /// The same for a packet of so many bytes of which only these have come. No place where it has to come as a whole.
  [[nodiscard]] std::expected<chunk_place, node_error> on_chunk_begin(std::uint8_t flags, bytes_view begin,
                                                                      std::size_t body_bytes);

  /// What lies in the message's own packet is the next in `in`. `is_body`: the frame is read before the packet's bytes
  /// go; others may be kept by the value. Fails with another error than `protocol_violation` where it is lost.
  [[nodiscard]] std::expected<frame, node_error> claim(packet_reader& in, const frame_descriptor& where, bool is_body);

  /// Of all frames that came in chunks and live somewhere. Any thread.
  [[nodiscard]] std::uint64_t living_bytes() const noexcept { return transfers_.living_bytes(); }

  /// Nothing is claimed any more.
  void clear() { transfers_.clear(); }

private:
  transfers transfers_;
  mention_finder& stored_;
};

} // namespace troupe::internal
