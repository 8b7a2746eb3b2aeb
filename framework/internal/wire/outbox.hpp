// The packets that wait to be written on a link. Small packets are copied together, with large frames by reference
// between them.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include <troupe/framework/internal/wire/packet.hpp>
#include <troupe/framework/internal/wire/packet_tap.hpp>
#include <troupe/serializers/extend/encode_output.hpp>
#include <troupe/serializers/frame.hpp>

namespace troupe::internal {

/// Bytes in the order of writing. Copying small packets together and gathering only large frames is five times as fast
/// as gathering everything.
class outbox {
public:
  /// Appends bytes that are not a packet, such as the preamble.
  void append(bytes_view small);

  /// Makes room, so that appending up to `bytes` more bytes cannot fail.
  void reserve(std::size_t bytes) { bytes_.reserve(bytes); }

  /// Appends a packet whose body is `begin` followed by `end`, both copied.
  void append_packet(packet_kind kind, std::uint8_t detail, bytes_view begin, bytes_view end = {});

  /// Appends a packet whose body ends with a frame, which is kept alive until the outbox is cleared.
  void append_packet(packet_kind kind, std::uint8_t detail, bytes_view begin, frame end);

  /// Shows each packet that is appended from now on to the tap `who`; null: there is no tap. Requires: the tap outlives
  /// the appending.
  void tap(packet_tap* who) noexcept { tap_ = who; }
  [[nodiscard]] packet_tap* tapped_by() const noexcept { return tap_; }

  /// Appends the frame's bytes. The frame is kept alive until the outbox is cleared.
  void append(frame large);

  /// Keeps an object alive until the outbox is cleared.
  void keep(std::shared_ptr<const void> what) { kept_.push_back(std::move(what)); }

  [[nodiscard]] bool empty() const noexcept { return bytes_.size() == 0 && frames_.empty(); }
  [[nodiscard]] std::size_t size_bytes() const noexcept { return bytes_.size() + frame_bytes_; }

  /// The number of packets that are messages.
  [[nodiscard]] std::uint64_t messages() const noexcept { return messages_; }

  /// Whether all bytes are copied ones; copied() then returns them.
  [[nodiscard]] bool is_copied() const noexcept { return frames_.empty() && kept_.empty(); }
  [[nodiscard]] bytes_view copied() const noexcept { return bytes_.bytes(); }

  /// Lists all bytes for writing. The list is valid until the next change.
  void gather(std::vector<bytes_view>& pieces) const;

  /// Empties the outbox. Keeps memory for the next packets.
  void clear();

private:
  struct placed_frame {
    std::size_t behind_bytes; // The number of bytes_ before the frame.
    frame bytes;
  };

  byte_buffer bytes_;
  std::vector<placed_frame> frames_;
  std::vector<std::shared_ptr<const void>> kept_;
  std::size_t frame_bytes_ = 0;
  std::uint64_t messages_ = 0;
  packet_tap* tap_ = nullptr;
};

} // namespace troupe::internal
