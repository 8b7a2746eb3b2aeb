// What somebody may have meant who wrote a name that is not there.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace troupe::internal {

/// How many letters have to be changed, added or left out, or swapped with their neighbours, to make one of the other.
[[nodiscard]] std::size_t distance(std::string_view one, std::string_view other);

/// The known name that is nearest to `name`, where no more than a third of its letters differ; else empty.
[[nodiscard]] std::string_view nearest(std::string_view name, std::span<const std::string_view> known);

/// "; did you mean "spill-bytes"? Known: serializers, spill-bytes", the first half where a name is near.
[[nodiscard]] std::string did_you_mean(std::string_view name, std::span<const std::string_view> known);

} // namespace troupe::internal
