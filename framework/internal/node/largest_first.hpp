// The order in which objects are listed.
#pragma once

#include <cstddef>
#include <vector>

#include <troupe/framework/memory_summary.hpp>

namespace troupe::internal {

/// Sorts the largest first; objects of one size keep their order. Returns the objects' former places. Moves each object
/// at most once, since rows are large and there may be a million.
std::vector<std::size_t> put_largest_first(std::vector<memory_object>& objects);

} // namespace troupe::internal
