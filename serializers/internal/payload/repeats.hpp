// Frames with the same bytes in the same memory travel once per payload, however often the value contains them.
//
// The header's field "r" (msgpack/format.md) has a varint per original frame, the body first: 0 for the payload's next
// frame, else the number of the earlier frame that it repeats.
#pragma once

#include <cstddef>
#include <expected>
#include <span>
#include <unordered_set>
#include <vector>

#include <troupe/serializers/extend/encode_output.hpp>
#include <troupe/serializers/frame.hpp>
#include <troupe/serializers/limits.hpp>
#include <troupe/serializers/serialize_error.hpp>

namespace troupe::detail {

/// Drops the frames that repeat earlier ones, and writes the note to `frame_repeats()`. Does nothing if no frame
/// repeats another, or if the note would take more than `note_bytes_max`.
void drop_repeats(std::size_t note_bytes_max, encode_output& output);

/// The largest memory that expand_repeats() takes for its list of frames. The note has at least one byte for each
/// frame.
[[nodiscard]] constexpr std::size_t expanding_bytes(std::size_t note_bytes) {
  return note_bytes * sizeof(frame);
}

struct expanded_frames {
  std::vector<frame> frames;
  // The memory of the list, and of repeated frames that were not aligned, each of which is copied once.
  std::size_t taken_bytes = 0;
};

/// Restores the original frames. Repeated frames are aligned for arrays, so that arrays in them view the same memory.
/// Fails with `malformed` or `limit_exceeded`.
[[nodiscard]] std::expected<expanded_frames, serialize_error>
expand_repeats(std::span<const std::byte> note, std::span<const frame> frames, const limits& bounds);

/// Counts the bytes of frames that repeat earlier ones. The sender has not sent these bytes.
class repeated_frames {
public:
  [[nodiscard]] std::size_t count(std::span<const frame> frames);

private:
  std::unordered_set<const std::byte*> seen_;
};

} // namespace troupe::detail
