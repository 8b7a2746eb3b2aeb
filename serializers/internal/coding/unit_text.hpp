// Counts of time as texts that say their unit, for formats that have none: "5s", "250ms", "1700000000s system clock".
#pragma once

#include <string>
#include <string_view>

#include <troupe/base/export.hpp>
#include <troupe/serializers/number.hpp>

namespace troupe::detail {

/// What stands behind the count: the standard library's suffix for such durations ("ms", "[1/60]s"), and the clock.
/// `unit` is what unit_of() gives; any other text comes back in brackets.
[[nodiscard]] TROUPE_EXPORT std::string unit_suffix(std::string_view unit);

/// The number at the front of the text, and what stands behind it. False when there is none.
[[nodiscard]] TROUPE_EXPORT bool split_count(std::string_view text, number& count, std::string_view& suffix);

} // namespace troupe::detail
