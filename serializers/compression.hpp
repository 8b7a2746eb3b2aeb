// Whether large frames are compressed before they leave.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <troupe/base/export.hpp>

namespace troupe {

/// How frames of 10,000 bytes and more are compressed, where that pays: five samples of a frame have to promise that
/// less than 0.7 of it is left, and then the whole has to keep it. All others travel as they are.
enum class compression : std::uint8_t {
  none,
  lz4,       ///< Fast in both directions.
  zstd,      ///< Leaves less, takes longer.
  automatic, ///< What costs the least time for what it saves: lz4.
};

[[nodiscard]] TROUPE_EXPORT std::string_view to_string(compression which);

/// By its name, as configuration files have it; nullopt for any other text.
[[nodiscard]] TROUPE_EXPORT std::optional<compression> compression_named(std::string_view name);

} // namespace troupe
