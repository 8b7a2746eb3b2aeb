// Sees the packets of an open link.
#pragma once

#include <cstdint>

#include <troupe/framework/internal/wire/packet.hpp>

namespace troupe::internal {

/// Told of each packet that a link appends to its output, or has read. Must return soon, and may not fail.
class packet_tap {
public:
  packet_tap() = default;
  packet_tap(const packet_tap&) = delete;
  packet_tap& operator=(const packet_tap&) = delete;
  virtual ~packet_tap() = default;

  /// The body consists of two parts. Called under the link's lock, in the order of writing.
  virtual void on_sent(packet_kind kind, std::uint8_t detail, bytes_view begin, bytes_view end) noexcept = 0;
  /// Called on the link's I/O thread, before the packet is handled.
  virtual void on_received(packet_kind kind, std::uint8_t detail, bytes_view body) noexcept = 0;
};

} // namespace troupe::internal
