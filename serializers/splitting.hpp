// Large frames in pieces, for whatever carries payloads and takes no frame above some size, or works on one frame after
// the other.
#pragma once

#include <cstddef>
#include <expected>

#include <troupe/base/export.hpp>
#include <troupe/base/sizes.hpp>
#include <troupe/serializers/limits.hpp>
#include <troupe/serializers/payload.hpp>
#include <troupe/serializers/serialize_error.hpp>

namespace troupe {

/// Frames above this are split before they are compressed.
inline constexpr std::size_t frame_piece_bytes = 64_MiB;

/// The same payload with no frame above `piece_bytes_max`, and a header that says which ones belong together: views of
/// the same memory. A payload that is in pieces already may be split further.
/// Fails with `not_supported` where a frame above that is compressed, and with `malformed` for a header that is none.
/// Requires: piece_bytes_max is not 0.
[[nodiscard]] TROUPE_EXPORT std::expected<payload, serialize_error>
split_frames(const payload& of, std::size_t piece_bytes_max = frame_piece_bytes);

/// What it was before split_frames(). Pieces that lie one behind the other in memory of the same owner are joined
/// without a copy, others in memory of their own, which is 64-byte aligned. deserialize() and links do this by
/// themselves. A payload that is not in pieces comes back as it is.
/// Fails with `malformed` or `limit_exceeded` (frame_bytes, body_bytes, memory_bytes).
[[nodiscard]] TROUPE_EXPORT std::expected<payload, serialize_error> join_frames(const payload& of,
                                                                                const limits& bounds = {});

} // namespace troupe
