// What the ends of all measurements have in common: families, and compression by its name.
#pragma once

#include <string>

#include <troupe/serializers/compression.hpp>
#include <troupe/serializers/family.hpp>

namespace troupe::tools {

/// Adds the families that a new set does not have.
void add_families(family_set& to);

/// Whether the family trusts its input, so that links have to allow it (link_options::trusted_families).
[[nodiscard]] bool trusts_input(const std::string& family);

/// Requires: `name` is one of compression_names.
[[nodiscard]] compression compression_of(const std::string& name);

} // namespace troupe::tools
