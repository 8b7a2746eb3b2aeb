// Finds a field by the name that came.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include <troupe/base/export.hpp>

namespace troupe::detail {

/// As many as there are names where it is none of them.
[[nodiscard]] TROUPE_EXPORT std::size_t place_of(std::string_view name, std::span<const std::string_view> names);

} // namespace troupe::detail
