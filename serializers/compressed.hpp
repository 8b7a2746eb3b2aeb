// What can be known of compressed payloads before anything of them is decoded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <troupe/base/export.hpp>

namespace troupe {

/// What the compressed frames of a payload become together, by what its header says (header_fields::frame_codecs). At
/// most 2^48, whatever is claimed; 0 where that cannot be read, since then nothing is decompressed.
[[nodiscard]] TROUPE_EXPORT std::uint64_t decompressed_bytes(std::span<const std::byte> frame_codecs);

} // namespace troupe
