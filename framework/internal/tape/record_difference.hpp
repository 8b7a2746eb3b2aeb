// Where two records differ.
#pragma once

#include <optional>
#include <string>

#include <troupe/serializers/record.hpp>

namespace troupe::internal {

/// The first place at which the records differ, with both values: ".samples[2]: 1.5 instead of 2". The fields of maps
/// are compared by name, in any order. Nullopt if the records are equal.
[[nodiscard]] std::optional<std::string> first_difference(const record& found, const record& expected);

} // namespace troupe::internal
