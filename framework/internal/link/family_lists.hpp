// A link's families in order of preference.
#pragma once

#include <cstddef>
#include <expected>
#include <string>
#include <vector>

#include <troupe/framework/node_errc.hpp>
#include <troupe/serializers/family.hpp>

namespace troupe::internal {

/// How many families each list of a link may name.
inline constexpr std::size_t families_max = 64;

/// A link's families in order of preference, with the names that the options list.
struct family_list {
  std::vector<std::string> names;
  std::vector<const family*> families;
};

/// Returns the families of `names` in the same order. Fails with `bad_option` for too many names, for an unknown
/// family, and for a family that needs trust unless `trusted`.
[[nodiscard]] std::expected<family_list, node_error> resolve_families(const std::vector<std::string>& names,
                                                                      const family_set& known, bool trusted);

} // namespace troupe::internal
