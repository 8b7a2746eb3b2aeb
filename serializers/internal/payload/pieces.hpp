// Joins and splits frames that are pieces of one.
//
// The header's field "p" (msgpack/format.md) has a varint per original frame, the body first: the number of frames of
// the payload, in their order, of which it consists.
#pragma once

#include <cstddef>
#include <expected>
#include <span>
#include <vector>

#include <troupe/serializers/extend/encode_output.hpp>
#include <troupe/serializers/frame.hpp>
#include <troupe/serializers/limits.hpp>
#include <troupe/serializers/serialize_error.hpp>

namespace troupe::detail {

/// The number of pieces of each frame. Fails with `malformed` unless there are `frame_count` pieces in all.
[[nodiscard]] std::expected<std::vector<std::size_t>, serialize_error> read_pieces(std::span<const std::byte> note,
                                                                                   std::size_t frame_count);
void append_pieces(byte_buffer& note, std::span<const std::size_t> pieces);

/// Splits larger frames behind the body, and writes the note to `frame_pieces()`. Does nothing if no frame is larger,
/// if the note could take more than `note_bytes_max`, or if there would be more frames than `bounds` allow.
void split_output(std::size_t piece_bytes_max, const limits& bounds, std::size_t note_bytes_max, encode_output& output);

/// The original frames of the payload, including those of one piece.
struct joined_frames {
  std::vector<frame> frames;
  std::size_t taken_bytes = 0; // Memory of the frames that had to be copied.
};
/// Joins the pieces. Checks everything that can be known before it allocates. Fails with `malformed` or
/// `limit_exceeded`.
[[nodiscard]] std::expected<joined_frames, serialize_error>
join_pieces(std::span<const std::byte> note, std::span<const frame> frames, const limits& bounds);

} // namespace troupe::detail
