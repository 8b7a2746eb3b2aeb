// Which frames of a payload are pieces of one.
//
// What the header's field "p" says (msgpack/format.md): per frame as it was, the body first, how many of the payload's
// frames in their order it consists of, as varints.
#pragma once

#include <cstddef>
#include <expected>
#include <span>
#include <vector>

#include <troupe/serializers/encode_output.hpp>
#include <troupe/serializers/frame.hpp>
#include <troupe/serializers/limits.hpp>
#include <troupe/serializers/serialize_error.hpp>

namespace troupe::detail {

/// Of how many pieces each frame is. Fails with `malformed` where that are not `frame_count` in all.
[[nodiscard]] std::expected<std::vector<std::size_t>, serialize_error> read_pieces(std::span<const std::byte> note,
                                                                                   std::size_t frame_count);
void append_pieces(byte_buffer& note, std::span<const std::size_t> pieces);

/// Splits the frames behind the body that are larger, and notes it in `frame_pieces()`; leaves all as it is where none
/// is, or where the note could take more than `note_bytes_max` or there would be more frames than `bounds` allow.
void split_output(std::size_t piece_bytes_max, const limits& bounds, std::size_t note_bytes_max, encode_output& output);

/// The payload's frames as they were, those of one piece included.
struct joined_frames {
  std::vector<frame> frames;
  std::size_t taken_bytes = 0; // Memory of the frames that had to be copied.
};
/// Everything that can be known is checked before memory is taken. Fails with `malformed` or `limit_exceeded`.
[[nodiscard]] std::expected<joined_frames, serialize_error>
join_pieces(std::span<const std::byte> note, std::span<const frame> frames, const limits& bounds);

} // namespace troupe::detail
