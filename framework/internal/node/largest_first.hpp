// The order in which objects are told of.
#pragma once

#include <cstddef>
#include <vector>

#include <troupe/framework/memory_summary.hpp>

namespace troupe::internal {

/// Puts the largest first; objects of one size keep their order. Gives the places where they were. Each object is moved
/// once at most, since rows are large and may be a million.
std::vector<std::size_t> put_largest_first(std::vector<memory_object>& objects);

} // namespace troupe::internal
