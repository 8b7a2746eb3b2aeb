// A C++ type's name for people.
#pragma once

#include <string>
#include <typeindex>
#include <typeinfo>

#include <troupe/base/export.hpp>

namespace troupe::detail {

[[nodiscard]] TROUPE_EXPORT std::string type_text(const std::type_info& type);
[[nodiscard]] TROUPE_EXPORT std::string type_text(std::type_index type);

/// The same as a programmer would write it: without default template arguments and inline namespaces, which standard
/// libraries and compilers have their own ways with.
[[nodiscard]] TROUPE_EXPORT std::string portable_type_text(std::type_index type);
/// Cut when long.
[[nodiscard]] TROUPE_EXPORT std::string brief_type_text(std::type_index type);

} // namespace troupe::detail
