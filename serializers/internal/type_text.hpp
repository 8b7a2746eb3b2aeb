// A C++ type's name for people.
#pragma once

#include <string>
#include <typeindex>
#include <typeinfo>

namespace troupe::detail {

[[nodiscard]] std::string type_text(const std::type_info& type);
[[nodiscard]] std::string type_text(std::type_index type);

/// The same as a programmer would write it: without default template arguments and inline namespaces, which standard
/// libraries and compilers have their own ways with.
[[nodiscard]] std::string portable_type_text(std::type_index type);
/// Cut when long.
[[nodiscard]] std::string brief_type_text(std::type_index type);

} // namespace troupe::detail
