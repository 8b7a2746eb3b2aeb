// Suggests known names for an unknown one.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace troupe::internal {

/// The number of letters to change, add, remove, or swap with a neighbor in order to get from one name to the other.
[[nodiscard]] std::size_t distance(std::string_view one, std::string_view other);

/// Returns the known name nearest to `name`, if at most a third of its letters differ. Otherwise returns an empty text.
[[nodiscard]] std::string_view nearest(std::string_view name, std::span<const std::string_view> known);

/// For example "; did you mean "spill-bytes"? Known: serializers, spill-bytes". The question is left out if no name is
/// near.
[[nodiscard]] std::string did_you_mean(std::string_view name, std::span<const std::string_view> known);

} // namespace troupe::internal
