// Payloads as one byte string, for files, queues and databases. The format: payload_bytes.md.
#pragma once

#include <cstddef>
#include <expected>
#include <span>
#include <vector>

#include <troupe/base/export.hpp>
#include <troupe/serializers/frame.hpp>
#include <troupe/serializers/limits.hpp>
#include <troupe/serializers/payload.hpp>
#include <troupe/serializers/serialize_error.hpp>

namespace troupe {

/// The payload as one string of bytes, which from_bytes() takes apart again, in this process or another, now or years
/// later. Strings may be written one behind the other.
/// Fails with `malformed` when the payload's header is none, and with `limit_exceeded` for a header of 4 GiB or 2^32
/// frames. Fails with `out_of_band_handle` for a payload that arrived in a message and mentions handles, which mean
/// nothing outside of it.
[[nodiscard]] TROUPE_EXPORT std::expected<std::vector<std::byte>, serialize_error> to_bytes(const payload& of);

/// What from_bytes() found at the beginning of what it was given.
struct payload_from_bytes {
  payload value; ///< Empty unless is_complete().
  /// How many more bytes the payload has. Exact once its sizes are there (16 bytes, and 8 for each frame); before that,
  /// as many as are needed to know more. 0: the payload is complete.
  std::size_t missing_bytes = 0;
  std::size_t used_bytes = 0;      ///< How many bytes the payload takes, or 0 while some are missing.
  std::span<const std::byte> rest; ///< What stands behind the payload: all that was given while some are missing.

  [[nodiscard]] bool is_complete() const { return missing_bytes == 0; }
};

/// Takes the first payload off the bytes, which may end anywhere. Memory is taken once all of it is there, and no more
/// than its bytes and 64 for each frame. The payload's frames are copies: large ones have memory of their own, those
/// below 4,096 bytes share one block. What the payload's value is, deserialize() checks.
/// Fails with `malformed` for bytes that are no payload's, `layout_mismatch` when a newer Troupe has written them, and
/// `limit_exceeded` when one of `bounds` (header_bytes, frames, body_bytes, frame_bytes) is exceeded: as soon as that
/// is seen, hence before the bytes have been waited for.
[[nodiscard]] TROUPE_EXPORT std::expected<payload_from_bytes, serialize_error>
from_bytes(std::span<const std::byte> bytes, const limits& bounds = {});

/// The same without a copy: the payload's header and frames are parts of the frame, whose memory lives as long as any
/// of them. For files that are mapped, and for buffers that are given away.
[[nodiscard]] TROUPE_EXPORT std::expected<payload_from_bytes, serialize_error> from_bytes(const frame& bytes,
                                                                                          const limits& bounds = {});

} // namespace troupe
