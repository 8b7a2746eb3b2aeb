// Chunks whose message has not come yet.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include <troupe/framework/internal/wire/packet.hpp>

namespace troupe::internal {

/// Keeps the chunks of frames until it is known whether their message is recorded. Beyond the bound, the frames that
/// began first lose their chunks.
///
/// Threads: one.
class waiting_chunks {
public:
  struct chunk {
    std::uint8_t detail = 0;
    byte_vector body;
  };

  explicit waiting_chunks(std::uint64_t bytes_max) : bytes_max_(bytes_max) {}

  /// The body consists of two parts. A chunk that cannot be read is not kept.
  void add(std::uint8_t detail, bytes_view begin, bytes_view end);
  /// The chunks of a frame, which are kept no longer. Empty if not all of them were kept.
  [[nodiscard]] std::vector<chunk> take(std::uint64_t transfer);

private:
  /// A frame whose chunks were dropped stays without any, so that later ones are not kept.
  struct frame_in_chunks {
    std::vector<chunk> chunks;
    std::uint64_t bytes = 0;
    bool is_dropped = false;
  };

  void make_room(std::uint64_t bytes);

  const std::uint64_t bytes_max_;
  std::map<std::uint64_t, frame_in_chunks> frames_;
  std::deque<std::uint64_t> order_; // Of frames, the first one first; may contain some that were taken.
  std::uint64_t bytes_ = 0;
};

} // namespace troupe::internal
