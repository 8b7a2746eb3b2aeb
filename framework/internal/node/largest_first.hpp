// The order in which objects are listed.
#pragma once

#include <cstddef>
#include <vector>

#include <troupe/framework/memory_summary.hpp>

namespace troupe::internal {

/// Sorts the largest first. Objects of one size keep their order. Returns the objects' former places. Moves each object
/// at most once, because rows are large and there may be a million of them.
std::vector<std::size_t> put_largest_first(std::vector<memory_object>& objects);

} // namespace troupe::internal
