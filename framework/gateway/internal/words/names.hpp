// The names of actors and objects in URLs.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace troupe::web {

inline constexpr std::size_t name_bytes_max = 200;

/// Letters, digits, '-', '_' and '.'; not "." and "..", which URLs treat specially.
[[nodiscard]] inline bool is_name(std::string_view name) {
  return !name.empty() && name.size() <= name_bytes_max && name != "." && name != ".."
         && std::ranges::all_of(name, [](char each) {
              return (each >= 'a' && each <= 'z') || (each >= 'A' && each <= 'Z') || (each >= '0' && each <= '9')
                     || each == '-' || each == '_' || each == '.';
            });
}

} // namespace troupe::web
