// Whether large frames are compressed before they leave.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <troupe/base/export.hpp>

namespace troupe {

/// How frames of 10,000 bytes and more are compressed if it pays: the result must be at most 0.7 of the frame. In a
/// frame of more than 50,000 bytes, five samples have to promise that first. All other frames travel uncompressed.
enum class compression : std::uint8_t {
  none,
  lz4,       ///< Fast in both directions.
  zstd,      ///< Leaves less, takes longer.
  automatic, ///< The best trade of time for size: lz4.
};

[[nodiscard]] TROUPE_EXPORT std::string_view to_string(compression which);

/// The inverse of to_string(), for configuration files; nullopt for any other text.
[[nodiscard]] TROUPE_EXPORT std::optional<compression> compression_named(std::string_view name);

} // namespace troupe
