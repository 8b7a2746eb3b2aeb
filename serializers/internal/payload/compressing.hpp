// Compressing the frames of a payload where it pays, and decompressing what somebody else has sent.
//
// What the header's field "z" says (msgpack/format.md): per frame a byte, 0 for a frame that is as it was, else the
// number of the codec, followed by the size of the original as a varint.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <span>
#include <vector>

#include <troupe/serializers/compression.hpp>
#include <troupe/serializers/context.hpp>
#include <troupe/serializers/encode_output.hpp>
#include <troupe/serializers/frame.hpp>
#include <troupe/serializers/internal/payload/pieces.hpp>
#include <troupe/serializers/limits.hpp>
#include <troupe/serializers/serialize_error.hpp>

namespace troupe::detail {

/// Numbers of the wire.
enum class frame_codec : std::uint8_t { none = 0, lz4 = 1, zstd = 2 };

inline constexpr std::size_t compressed_from_bytes = 10'000; // Smaller frames are not worth the time.
inline constexpr std::size_t sample_bytes = 10'000;
inline constexpr std::size_t sample_count = 5;

/// The most that compressing `size_bytes` may leave to be worth it: 0.7 of them.
[[nodiscard]] constexpr std::size_t worthwhile_bytes(std::size_t size_bytes) {
  return size_bytes / 10 * 7 + size_bytes % 10 * 7 / 10;
}

/// Whether values of this context are compressed when they are encoded. Never where both ends share a store: there
/// large frames are mapped, not sent.
[[nodiscard]] inline bool compresses(const context& ctx) {
  return ctx.compression != compression::none && !ctx.shared_store;
}

/// How one frame travels.
struct frame_form {
  frame_codec codec = frame_codec::none;
  std::uint64_t original_bytes = 0; // Of compressed frames.
};

/// Replaces those frames of the output, and its body, that are worth it, and notes it in `frame_codecs()`. Leaves all
/// as it is where the note could take more than `note_bytes_max`, and each frame that a receiver with the limits of
/// `ctx` would refuse. Requires: compresses(ctx).
void compress_frames(const context& ctx, std::size_t note_bytes_max, encode_output& output);

/// What the field says of each frame. Fails with `malformed`.
[[nodiscard]] std::expected<std::vector<frame_form>, serialize_error>
read_frame_codecs(std::span<const std::byte> note);
/// The same, where there are so many frames.
[[nodiscard]] std::expected<std::vector<frame_form>, serialize_error> read_frame_codecs(std::span<const std::byte> note,
                                                                                        std::size_t frame_count);

/// The payload's frames as they were, those that are not compressed included; pieces (see pieces.hpp) are decompressed
/// in one. Everything that can be known is checked before memory is taken. Fails with `malformed` or `limit_exceeded`.
[[nodiscard]] std::expected<joined_frames, serialize_error> decompress_frames(std::span<const std::byte> note,
                                                                              std::span<const std::byte> pieces_note,
                                                                              std::span<const frame> frames,
                                                                              const limits& bounds);

/// What the field says of one frame.
void append_form(byte_buffer& note, const frame_form& form);

/// The same frame, marked as one that is compressed already and shall stay as it is.
[[nodiscard]] frame marked_as_compressed(const frame& of);

} // namespace troupe::detail
