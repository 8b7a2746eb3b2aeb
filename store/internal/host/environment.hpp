// Switches in the process's environment.
#pragma once

#include <cstdlib>
#include <string_view>

namespace troupe::store::internal {

/// Whether the environment variable has the value "1".
[[nodiscard]] inline bool is_set(const char* variable) {
  const auto* const value = std::getenv(variable);
  return value != nullptr && std::string_view{value} == "1";
}

} // namespace troupe::store::internal
