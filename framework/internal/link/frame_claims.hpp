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

/// Claims the frames that messages name. Each frame goes to one message.
///
/// Threads: one, except for `living_bytes`.
class frame_claims {
public:
  /// `stored` has the frames in the shared store; it must outlive this object.
  frame_claims(const transfer_limits& bounds, mention_finder& stored) : transfers_(bounds), stored_(stored) {}

  /// Handles a packet with a part of a frame that travels ahead of its message.
  std::expected<void, node_error> on_chunk(std::uint8_t flags, bytes_view body);

  /// As on_chunk() for a packet of `body_bytes` bytes, of which only `begin` has arrived. Returns where to read the
  /// rest, or an empty place if the packet has to be read as a whole.
  [[nodiscard]] std::expected<chunk_place, node_error> on_chunk_begin(std::uint8_t flags, bytes_view begin,
                                                                      std::size_t body_bytes);

  /// Claims the frame that `where` describes. The bytes of an inline frame come next in `in`. `is_body`: the frame is
  /// read before the packet's bytes are dropped. A frame that is no body may be kept by the value. Fails with
  /// `protocol_violation` for a wrong packet, and with another error if the frame is lost.
  [[nodiscard]] std::expected<frame, node_error> claim(packet_reader& in, const frame_descriptor& where, bool is_body);

  /// The bytes of all frames that came in chunks and are still alive. Threads: any.
  [[nodiscard]] std::uint64_t living_bytes() const noexcept { return transfers_.living_bytes(); }

  /// Drops all unclaimed frames.
  void clear() { transfers_.clear(); }

private:
  transfers transfers_;
  mention_finder& stored_;
};

} // namespace troupe::internal
