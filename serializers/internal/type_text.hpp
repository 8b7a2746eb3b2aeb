// A C++ type's name for people.
#pragma once

#include <string>
#include <typeindex>
#include <typeinfo>

namespace troupe::detail {

[[nodiscard]] std::string type_text(const std::type_info& type);
[[nodiscard]] std::string type_text(std::type_index type);

} // namespace troupe::detail
