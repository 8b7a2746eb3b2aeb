// Arrays whose values tell their position.
#pragma once

#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

#include <troupe/serializers/array.hpp>

/// 0, 1, 2, ... in the order in memory.
template <class T = int>
troupe::array<T> counted(std::vector<std::size_t> shape, troupe::memory_order order = troupe::memory_order::c) {
  std::vector<T> values(*troupe::detail::count_of(shape));
  std::iota(values.begin(), values.end(), T{});
  return troupe::array<T>(std::move(values), std::move(shape), order);
}
