// The one place where all that a registry needs of `record` is compiled: its alternatives are most of the types that there
// are.
#pragma once

#include <troupe/serializers/record.hpp>
#include <troupe/serializers/type_registry.hpp>

namespace troupe {

// Made in record.cpp.
extern template type_entry::type_entry(std::in_place_type_t<record>, std::string, std::optional<own_codec>);

} // namespace troupe
