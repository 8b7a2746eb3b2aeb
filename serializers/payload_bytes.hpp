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

/// The payload as one byte string, which from_bytes() reads again, in this process or another, now or years later.
/// Strings may be concatenated.
/// Fails with `malformed` if the payload's header is invalid, and with `limit_exceeded` for a header of 4 GiB or 2^32
/// frames. Fails with `out_of_band_handle` for a payload that arrived in a message and mentions handles, which mean
/// nothing outside of that message.
[[nodiscard]] TROUPE_EXPORT std::expected<std::vector<std::byte>, serialize_error> to_bytes(const payload& of);

/// The result of from_bytes(): the payload at the beginning of its input.
struct payload_from_bytes {
  payload value; ///< Empty unless is_complete().
  /// How many more bytes the payload has; 0 if it is complete. Exact once the sizes have arrived (16 bytes, and 8 for
  /// each frame); before that, the number of bytes needed to know more.
  std::size_t missing_bytes = 0;
  std::size_t used_bytes = 0;      ///< The payload's size, or 0 while bytes are missing.
  std::span<const std::byte> rest; ///< The bytes behind the payload; the whole input while bytes are missing.

  [[nodiscard]] bool is_complete() const { return missing_bytes == 0; }
};

/// Takes the first payload off the bytes, which may end anywhere. Allocates only once the whole payload is there, and
/// at most its size plus 64 bytes for each frame. The frames are copies: frames of 4,096 bytes and more have memory of
/// their own, smaller ones share one block. The payload's value is checked only by deserialize().
/// Fails with `malformed` if the bytes are not a payload, with `layout_mismatch` if a newer Troupe has written them,
/// and with `limit_exceeded` if one of `bounds` (header_bytes, frames, body_bytes, frame_bytes) is exceeded. A limit is
/// checked as soon as the size is known, before the bytes have arrived.
[[nodiscard]] TROUPE_EXPORT std::expected<payload_from_bytes, serialize_error>
from_bytes(std::span<const std::byte> bytes, const limits& bounds = {});

/// Takes the payload off without a copy: its header and frames are slices of `bytes`, whose memory lives as long as any
/// of them. For mapped files, and for buffers that the caller gives away.
[[nodiscard]] TROUPE_EXPORT std::expected<payload_from_bytes, serialize_error> from_bytes(const frame& bytes,
                                                                                          const limits& bounds = {});

} // namespace troupe
