// Converts between CAF's run-time type information and the registry's type entries.
#pragma once

#include <string>

#include <caf/rtti_pair.hpp>

#include <troupe/serializers/type_entry.hpp>

namespace troupe::internal {

/// Adds the CAF built-in types that cross links, unless they are registered already.
void add_builtin_types(type_registry& types);

/// The C++ type of a message element; null if unknown.
[[nodiscard]] const std::type_info* info_of(const caf::rtti_pair& type);

/// The entry of a message element's type; null if the registry has none.
[[nodiscard]] const type_entry* entry_of(const caf::rtti_pair& type, const type_registry& types);

/// The type information that CAF keeps for a message element of this type.
[[nodiscard]] caf::rtti_pair rtti_of(const type_entry& type);

/// A readable name, for error messages.
[[nodiscard]] std::string name_of_type(const caf::rtti_pair& type);

} // namespace troupe::internal
