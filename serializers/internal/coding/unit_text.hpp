// Counts of time as texts with their unit, for formats without units: "5s", "250ms", "1700000000s system clock".
#pragma once

#include <string>
#include <string_view>

#include <troupe/base/export.hpp>
#include <troupe/serializers/number.hpp>

namespace troupe::detail {

/// The text behind the count: the standard library's suffix for such durations ("ms", "[1/60]s"), and the clock. `unit`
/// is a result of unit_of(). Any other text is put in brackets.
[[nodiscard]] TROUPE_EXPORT std::string unit_suffix(std::string_view unit);

/// Splits the text into the number at its beginning and the rest. False if there is no number.
[[nodiscard]] TROUPE_EXPORT bool split_count(std::string_view text, number& count, std::string_view& suffix);

} // namespace troupe::detail
