// Payloads as one byte string, for files, queues and databases. Format: payload_bytes.md. All functions may be called
// from any thread.
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

/// The payload as one byte string. from_bytes() reads the string again, in this process or another one, now or years
/// later. Strings may be concatenated. Fails with `malformed` if the payload's header is invalid, with `limit_exceeded`
/// for a header of 4 GiB or 2^32 frames, and with `out_of_band_handle` for a payload that arrived in a message and
/// mentions handles, because these handles mean nothing outside of that message.
[[nodiscard]] TROUPE_EXPORT std::expected<std::vector<std::byte>, serialize_error> to_bytes(const payload& of);

/// The result of from_bytes(): the payload at the beginning of its input.
struct payload_from_bytes {
  payload value; ///< Empty unless is_complete().
  /// The number of bytes of the payload that are missing; 0 if it is complete. Exact once the sizes have arrived (16
  /// bytes, and 8 for each frame). Before that, the number of bytes that are needed to know more.
  std::size_t missing_bytes = 0;
  std::size_t used_bytes = 0;      ///< The payload's size, or 0 while bytes are missing.
  std::span<const std::byte> rest; ///< The bytes behind the payload; the whole input while bytes are missing.

  [[nodiscard]] bool is_complete() const { return missing_bytes == 0; }
};

/// Takes the first payload off the bytes, which may end anywhere. Allocates only once the whole payload is there, and
/// at most the payload's size plus 64 bytes for each frame. The frames are copies: frames of 4,096 bytes and more have
/// memory of their own, smaller ones share one block. Only deserialize() checks the payload's value.
///
/// Fails with `malformed` if the bytes are not a payload, with `layout_mismatch` if another version of the format wrote
/// them, and with `limit_exceeded` if one of `bounds` (header_bytes, frames, body_bytes, frame_bytes) is exceeded. A
/// limit is checked as soon as the size is known, before the bytes have arrived.
[[nodiscard]] TROUPE_EXPORT std::expected<payload_from_bytes, serialize_error>
from_bytes(std::span<const std::byte> bytes, const limits& bounds = {});

/// Like from_bytes() above, but without a copy: the header and the frames are slices of `bytes`, whose memory lives as
/// long as any of them. Intended for mapped files, and for buffers that the caller gives away.
[[nodiscard]] TROUPE_EXPORT std::expected<payload_from_bytes, serialize_error> from_bytes(const frame& bytes,
                                                                                          const limits& bounds = {});

} // namespace troupe
