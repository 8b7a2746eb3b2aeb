// The values that a visitor writes or reads in one call.
#pragma once

#include <troupe/serializers/internal/shape/shape_table.hpp>

namespace troupe::detail {

/// Whether visitors have a call for such a value as a whole.
template <class T>
consteval bool is_visited_whole() {
  constexpr auto of = shape_of<T>;
  if constexpr (of == shape::fixed)
    return numeric<typename fixed_extent<T>::element>;
  else
    return of == shape::duration || of == shape::time_point
           || (row_of<T>.parts == holding::none && of != shape::unsupported);
}

} // namespace troupe::detail
