// Packets of messages that differ only in their value. Pure: no sockets, no actors.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>

#include <troupe/framework/internal/wire/packet.hpp>

namespace troupe::internal {

/// Recognizes a packet that begins like an earlier one: a small message of one plain element with the same sender,
/// receiver, signature and header.
///
/// Threads: one.
class message_run {
public:
  /// The least packet size that is not recognized.
  static constexpr std::size_t packet_bytes_max = 1024;

  struct packet {
    bytes_view value; // The element's body.
    std::size_t size_bytes = 0;
  };

  /// Recognizes from now on packets with this detail, head, and header number. Requires: the message is neither a
  /// request nor an answer, and has no extensions.
  void learn(std::uint8_t detail, bytes_view head, std::uint64_t header_number) noexcept {
    constexpr std::size_t behind_head_max = 2 + 1;
    constexpr std::uint64_t numbers_of_two_bytes = 1 << 14;
    forget();
    if (begin_offset + head.size() + behind_head_max > begin_.size() || header_number >= numbers_of_two_bytes)
      return;
    begin_.fill(std::byte{0});
    begin_[0] = static_cast<std::byte>(packet_kind::message);
    begin_[1] = std::byte{detail}; // Followed by two reserved bytes, which are zero.
    std::memcpy(begin_.data() + begin_offset, head.data(), head.size());
    auto* end = put_varint(begin_.data() + begin_offset + head.size(), header_number);
    *end++ = std::byte{1}; // Frames.
    size_ = static_cast<std::size_t>(end - begin_.data());
    const auto bits_behind = 8 * (word_bytes - 1 - (size_ - 1) % word_bytes);
    last_mask_ = ~std::uint64_t{0} >> bits_behind;
  }
  void forget() noexcept { size_ = 0; }

  /// Returns the packet at the beginning of the bytes; nullopt if it is another packet, is incomplete, or has a fault.
  /// May not recognize the last packet of the bytes.
  [[nodiscard]] std::optional<packet> first_of(bytes_view bytes) const noexcept {
    if (size_ == 0 || bytes.size() < size_offset + begin_.size() || !begins(bytes.data() + size_offset))
      return std::nullopt;
    std::uint32_t body_bytes = 0;
    std::memcpy(&body_bytes, bytes.data(), sizeof body_bytes);
    if (body_bytes >= packet_bytes_max || body_bytes > bytes.size() - packet_head_bytes)
      return std::nullopt;
    const auto size_bytes = packet_head_bytes + body_bytes;
    const auto* at = bytes.data() + size_offset + size_;
    auto size_and_place = static_cast<std::uint32_t>(*at++);
    if (size_and_place >= 0x80) {
      const auto high = static_cast<std::uint32_t>(*at++);
      if (high >= 0x80 || high == 0)
        return std::nullopt;
      size_and_place = (size_and_place & 0x7f) | high << 7;
    }
    const auto actors_and_objects = *at++;
    const auto begin = static_cast<std::size_t>(at - bytes.data());
    constexpr auto place = (1u << frame_place_bits) - 1;
    static_assert(frame_place::inline_ == frame_place{0});
    if (actors_and_objects != std::byte{0} || (size_and_place & place) != 0 || begin > size_bytes
        || size_and_place >> frame_place_bits != size_bytes - begin)
      return std::nullopt;
    return packet{bytes.subspan(begin, size_bytes - begin), size_bytes};
  }

private:
  static constexpr std::size_t word_bytes = sizeof(std::uint64_t);
  static constexpr std::size_t size_offset = sizeof(std::uint32_t);            // In the packet: after its size.
  static constexpr std::size_t begin_offset = packet_head_bytes - size_offset; // In begin_: after the packet's head.

  [[nodiscard]] bool begins(const std::byte* at) const noexcept {
    std::size_t word = 0;
    for (; word + word_bytes < size_; word += word_bytes)
      if (difference(at, word) != 0)
        return false;
    return (difference(at, word) & last_mask_) == 0;
  }
  [[nodiscard]] std::uint64_t difference(const std::byte* at, std::size_t word) const noexcept {
    std::uint64_t theirs = 0, ours = 0;
    std::memcpy(&theirs, at + word, word_bytes);
    std::memcpy(&ours, begin_.data() + word, word_bytes);
    return theirs ^ ours;
  }

  std::array<std::byte, 40> begin_ = {}; // The bytes from after the packet's size to the number of frames.
  std::size_t size_ = 0;                 // The used bytes of begin_; 0: nothing is recognized.
  std::uint64_t last_mask_ = 0;          // For the last word of the used bytes.
};

} // namespace troupe::internal
