// Compression of large frames on a link.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <troupe/base/export.hpp>

namespace troupe {

/// The compression of frames of 10,000 bytes and more. A frame travels compressed only if the result is at most 0.7 of
/// the frame. In a frame of more than 50,000 bytes, five samples must also predict that. All other frames travel
/// uncompressed.
enum class compression : std::uint8_t {
  none,
  lz4,       ///< Fast in both directions.
  zstd,      ///< Smaller results, but slower.
  automatic, ///< The best trade of time for size: lz4.
};

[[nodiscard]] TROUPE_EXPORT std::string_view to_string(compression which);

/// The inverse of to_string(), for configuration files; nullopt for any other text.
[[nodiscard]] TROUPE_EXPORT std::optional<compression> compression_named(std::string_view name);

} // namespace troupe
