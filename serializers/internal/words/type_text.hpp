// The names of C++ types for people.
#pragma once

#include <string>
#include <typeindex>
#include <typeinfo>

#include <troupe/base/export.hpp>

namespace troupe::detail {

[[nodiscard]] TROUPE_EXPORT std::string type_text(const std::type_info& type);
[[nodiscard]] TROUPE_EXPORT std::string type_text(std::type_index type);

/// The type's name as a programmer would write it: without default template arguments and inline namespaces, which
/// differ between standard libraries and compilers.
[[nodiscard]] TROUPE_EXPORT std::string portable_type_text(std::type_index type);
/// Like type_text(), but cut if it is longer than 200 characters.
[[nodiscard]] TROUPE_EXPORT std::string brief_type_text(std::type_index type);

} // namespace troupe::detail
