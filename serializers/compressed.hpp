// The size of compressed payloads, before anything is decoded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <troupe/base/export.hpp>

namespace troupe {

/// The total size of a payload's compressed frames after decompression, as its header claims
/// (header_fields::frame_codecs). At most 2^48, even if the header claims more. 0 if `frame_codecs` cannot be parsed,
/// because then nothing is decompressed.
[[nodiscard]] TROUPE_EXPORT std::uint64_t decompressed_bytes(std::span<const std::byte> frame_codecs);

} // namespace troupe
