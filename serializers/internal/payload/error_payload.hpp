// Payloads that carry a text instead of a value.
#pragma once

#include <string_view>

namespace troupe::detail {

/// Takes the place of a family's name. It is accepted whatever families are listed. It is reserved: no family may have
/// it.
inline constexpr std::string_view error_family = "error";

} // namespace troupe::detail
