// Splits large frames into pieces, for transports that limit the size of a frame, or work on one frame at a time. Both
// functions may be called from any thread.
#pragma once

#include <cstddef>
#include <expected>

#include <troupe/base/export.hpp>
#include <troupe/base/sizes.hpp>
#include <troupe/serializers/limits.hpp>
#include <troupe/serializers/payload.hpp>
#include <troupe/serializers/serialize_error.hpp>

namespace troupe {

/// Frames above this size are split before they are compressed.
inline constexpr std::size_t frame_piece_bytes = 64_MiB;

/// The same payload without frames above `piece_bytes_max`, and with a header that says which frames belong together.
/// The pieces are views of the same memory. A payload in pieces may be split further. Fails with `not_supported` if a
/// larger frame is compressed, and with `malformed` if the header is invalid. Requires: `piece_bytes_max` is not 0.
[[nodiscard]] TROUPE_EXPORT std::expected<payload, serialize_error>
split_frames(const payload& of, std::size_t piece_bytes_max = frame_piece_bytes);

/// The inverse of split_frames(). Pieces that are adjacent in memory of one owner are joined without a copy; others are
/// copied into 64-byte aligned memory. deserialize() and links join pieces themselves. A payload that is not in pieces
/// is returned unchanged. Fails with `malformed`, `limit_exceeded` (header_bytes, frame_bytes, body_bytes,
/// memory_bytes), or `not_supported` if pieces are compressed.
[[nodiscard]] TROUPE_EXPORT std::expected<payload, serialize_error> join_frames(const payload& of,
                                                                                const limits& bounds = {});

} // namespace troupe
