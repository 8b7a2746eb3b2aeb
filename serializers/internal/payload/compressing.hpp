// Compresses the frames of a payload if that pays, and decompresses the frames of received payloads.
//
// The header's field "z" (msgpack/format.md) has a byte per frame: 0 if the frame is not compressed, else the number of
// the codec, followed by the size of the original as a varint.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <span>
#include <vector>

#include <troupe/serializers/compression.hpp>
#include <troupe/serializers/context.hpp>
#include <troupe/serializers/extend/encode_output.hpp>
#include <troupe/serializers/frame.hpp>
#include <troupe/serializers/internal/payload/pieces.hpp>
#include <troupe/serializers/limits.hpp>
#include <troupe/serializers/serialize_error.hpp>

namespace troupe::detail {

/// The values are part of the wire format.
enum class frame_codec : std::uint8_t { none = 0, lz4 = 1, zstd = 2 };

inline constexpr std::size_t compressed_from_bytes = 10'000; // Smaller frames take more time than they save.
inline constexpr std::size_t sample_bytes = 10'000;
inline constexpr std::size_t sample_count = 5;

/// The largest result for which compression of `size_bytes` pays: 0.7 of them.
[[nodiscard]] constexpr std::size_t worthwhile_bytes(std::size_t size_bytes) {
  return size_bytes / 10 * 7 + size_bytes % 10 * 7 / 10;
}

/// Whether values of this context are compressed when they are encoded. Never if both ends share a store, because then
/// large frames are mapped and not sent.
[[nodiscard]] inline bool compresses(const context& ctx) {
  return ctx.compression != compression::none && !ctx.shared_store;
}

/// The form in which one frame travels.
struct frame_form {
  frame_codec codec = frame_codec::none;
  std::uint64_t original_bytes = 0; // Of compressed frames.
};

/// Compresses the body and the frames of the output for which compression pays, and writes the note to
/// `frame_codecs()`. Does nothing if the note could take more than `note_bytes_max`. Does not compress a frame if a
/// receiver with the limits of `ctx` would refuse the result. Requires: compresses(ctx).
void compress_frames(const context& ctx, std::size_t note_bytes_max, encode_output& output);

/// Reads the note, which gives the form of each frame. Fails with `malformed`.
[[nodiscard]] std::expected<std::vector<frame_form>, serialize_error>
read_frame_codecs(std::span<const std::byte> note);
/// Reads the note. Fails with `malformed`, also if it is not about `frame_count` frames.
[[nodiscard]] std::expected<std::vector<frame_form>, serialize_error> read_frame_codecs(std::span<const std::byte> note,
                                                                                        std::size_t frame_count);

/// All original frames of the payload, including those that are not compressed. The pieces of a frame (see pieces.hpp)
/// are decompressed into one. Checks sizes before it allocates. Fails with `malformed` or `limit_exceeded`.
[[nodiscard]] std::expected<joined_frames, serialize_error> decompress_frames(std::span<const std::byte> note,
                                                                              std::span<const std::byte> pieces_note,
                                                                              std::span<const frame> frames,
                                                                              const limits& bounds);

/// Appends the form of one frame to the note.
void append_form(byte_buffer& note, const frame_form& form);

/// The same frame, marked as already compressed, so that it is not compressed again.
[[nodiscard]] frame marked_as_compressed(const frame& of);

} // namespace troupe::detail
