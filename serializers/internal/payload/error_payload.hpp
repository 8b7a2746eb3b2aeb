// Payloads that carry a text instead of a value.
#pragma once

#include <string_view>

namespace troupe::detail {

/// Stands where a family's name does. Accepted whatever families are listed, and no family may have it.
inline constexpr std::string_view error_family = "error";

} // namespace troupe::detail
