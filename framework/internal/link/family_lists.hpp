// A link's families in order.
#pragma once

#include <cstddef>
#include <expected>
#include <string>
#include <vector>

#include <troupe/framework/node_errc.hpp>
#include <troupe/serializers/family.hpp>

namespace troupe::internal {

/// How many families a link's lists may name.
inline constexpr std::size_t families_max = 64;

/// A link's families in order, and the names by which they were given.
struct family_list {
  std::vector<std::string> names;
  std::vector<const family*> families;
};

/// The families of `names` in order. Fails with `bad_option` for one that is not there, or that the options do not
/// admit.
[[nodiscard]] std::expected<family_list, node_error> resolve_families(const std::vector<std::string>& names,
                                                                      const family_set& known, bool trusted);

} // namespace troupe::internal
