// What waits to be written on a link: small packets copied together, large frames by reference in between.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include <troupe/framework/internal/wire/packet.hpp>
#include <troupe/serializers/encode_output.hpp>
#include <troupe/serializers/frame.hpp>

namespace troupe::internal {

/// Bytes in the order of writing. Copying small packets into one run and gathering only what is large is five times as
/// fast as gathering all.
class outbox {
public:
  /// Bytes that are no packet, such as the preamble.
  void append(bytes_view small);

  /// Makes room: appending up to `bytes` more bytes cannot fail.
  void reserve(std::size_t bytes) { bytes_.reserve(bytes); }

  /// A packet whose body is two pieces one after the other, copied.
  void append_packet(packet_kind kind, std::uint8_t detail, bytes_view begin, bytes_view end = {});

  /// A packet whose body ends with a frame, which is kept alive until the outbox is cleared.
  void append_packet(packet_kind kind, std::uint8_t detail, bytes_view begin, frame end);

  /// The next bytes in order are the frame's, which is kept alive until the outbox is cleared.
  void append(frame large);

  /// Keeps something alive until the outbox is cleared.
  void keep(std::shared_ptr<const void> what) { kept_.push_back(std::move(what)); }

  [[nodiscard]] bool empty() const noexcept { return bytes_.size() == 0 && frames_.empty(); }
  [[nodiscard]] std::size_t size_bytes() const noexcept { return bytes_.size() + frame_bytes_; }

  /// How many of the packets are messages.
  [[nodiscard]] std::uint64_t messages() const noexcept { return messages_; }

  /// Whether it holds nothing but copied bytes, which are then copied().
  [[nodiscard]] bool is_copied() const noexcept { return frames_.empty() && kept_.empty(); }
  [[nodiscard]] bytes_view copied() const noexcept { return bytes_.bytes(); }

  /// All bytes as a list to write; valid until the next change.
  void gather(std::vector<bytes_view>& pieces) const;

  /// Empties it; keeps memory for the next packets.
  void clear();

private:
  struct placed_frame {
    std::size_t behind_bytes; // How many of bytes_ come before it.
    frame bytes;
  };

  byte_buffer bytes_;
  std::vector<placed_frame> frames_;
  std::vector<std::shared_ptr<const void>> kept_;
  std::size_t frame_bytes_ = 0;
  std::uint64_t messages_ = 0;
};

} // namespace troupe::internal
