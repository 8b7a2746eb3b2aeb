// Frames that are the same bytes in the same memory are there once in a payload, however often its value has them.
//
// What the header's field "r" says (msgpack/format.md): per frame as it was, the body first, a varint, 0 for the
// payload's next frame, else the number of the earlier one that is meant again.
#pragma once

#include <cstddef>
#include <expected>
#include <span>
#include <unordered_set>
#include <vector>

#include <troupe/serializers/encode_output.hpp>
#include <troupe/serializers/frame.hpp>
#include <troupe/serializers/limits.hpp>
#include <troupe/serializers/serialize_error.hpp>

namespace troupe::detail {

/// Drops the frames that repeat earlier ones, and notes it in `frame_repeats()`. Leaves all as it is where none does,
/// or where the note could take more than `note_bytes_max`.
void drop_repeats(std::size_t note_bytes_max, encode_output& output);

/// What expand_repeats() is going to take, by the size of the note: for the list of frames, of a byte each or more.
[[nodiscard]] constexpr std::size_t expanding_bytes(std::size_t note_bytes) {
  return note_bytes * sizeof(frame);
}

struct expanded_frames {
  std::vector<frame> frames;
  // By the list of them, and by frames that are there again and did not lie aligned: those are copied, once.
  std::size_t taken_bytes = 0;
};

/// The frames as they were. Arrays in those that are there again lie in place, so that they are the same memory. Fails
/// with `malformed` or `limit_exceeded`.
[[nodiscard]] std::expected<expanded_frames, serialize_error>
expand_repeats(std::span<const std::byte> note, std::span<const frame> frames, const limits& bounds);

/// The bytes of those frames that repeat earlier ones: their sender has not spent them.
class repeated_frames {
public:
  [[nodiscard]] std::size_t count(std::span<const frame> frames);

private:
  std::unordered_set<const std::byte*> seen_;
};

} // namespace troupe::detail
