// Keeps the templates that a registry needs for `record` from being compiled twice, because its alternatives are most
// types.
#pragma once

#include <troupe/serializers/record.hpp>
#include <troupe/serializers/type_registry.hpp>

namespace troupe {

// Instantiated in record.cpp.
extern template type_entry::type_entry(std::in_place_type_t<record>, std::string, std::optional<own_codec>);

} // namespace troupe
