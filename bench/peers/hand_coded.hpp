// The message encoded by hand, without a framework, for peers that carry only bytes.
#pragma once

#include "peers/small_messages.hpp"

#include <cstddef>
#include <cstring>
#include <span>

namespace bench {

/// Three integers, the text's length, the text.
struct hand_coded {
  static constexpr std::size_t head_bytes = 4 * sizeof(std::int32_t);
  static constexpr std::size_t bytes_max = head_bytes + 64;
  static constexpr std::size_t bytes_max_together = structs_together * bytes_max;

  /// Returns the number of bytes written. Requires: `to` has room for `bytes_max`.
  static std::size_t encode(const small_message& message, std::byte* to) {
    const auto length = static_cast<std::int32_t>(message.text.size());
    const std::int32_t head[] = {message.number, message.second, message.third, length};
    std::memcpy(to, head, head_bytes);
    std::memcpy(to + head_bytes, message.text.data(), message.text.size());
    return head_bytes + message.text.size();
  }

  /// Reads the message at the front of `from` into `message`. Returns its size in bytes, or 0 if it is incomplete.
  static std::size_t decode(std::span<const std::byte> from, small_message& message) {
    if (from.size() < head_bytes)
      return 0;
    std::int32_t head[4];
    std::memcpy(head, from.data(), head_bytes);
    const auto length = static_cast<std::size_t>(head[3]);
    if (from.size() - head_bytes < length)
      return 0;
    message.number = head[0];
    message.second = head[1];
    message.third = head[2];
    message.text.assign(reinterpret_cast<const char*>(from.data() + head_bytes), length);
    return head_bytes + length;
  }

  /// Encodes the messages one after the other. Returns the number of bytes written. Requires: room for `bytes_max`
  /// each.
  static std::size_t encode_each(const small_messages& messages, std::byte* to) {
    std::size_t written = 0;
    for (const auto& message : messages)
      written += encode(message, to + written);
    return written;
  }

  /// Reads the complete messages in `from`, one after the other, each into `message`, and passes it to `handle`.
  /// Returns the number of bytes read.
  template <class Handle>
  static std::size_t decode_each(std::span<const std::byte> from, small_message& message, const Handle& handle) {
    std::size_t read = 0;
    while (const auto taken = decode(from.subspan(read), message)) {
      read += taken;
      handle(message);
    }
    return read;
  }
};

/// The near end's request before it sends messages, or large values (`take`).
struct hand_coded_command {
  enum class kind : std::uint64_t { consume, echo, take };
  kind what = kind::consume;
  std::uint64_t count = 0;
};

} // namespace bench
