// Finds a field by its received name.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include <troupe/base/export.hpp>

namespace troupe::detail {

/// The index of the name; `names.size()` if there is no such name.
[[nodiscard]] TROUPE_EXPORT std::size_t place_of(std::string_view name, std::span<const std::string_view> names);

} // namespace troupe::detail
