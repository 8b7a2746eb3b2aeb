// Lists that serve message after message keep their memory, so that small messages allocate nothing. A large message
// does not leave its memory behind.
#pragma once

#include <cstddef>
#include <vector>

namespace troupe::internal {

/// Empties a list that is used again; keeps its memory up to so many bytes.
template <class T>
void empty_for_reuse(std::vector<T>& list, std::size_t kept_bytes_max = 1024) {
  list.clear();
  if (list.capacity() * sizeof(T) > kept_bytes_max)
    list.shrink_to_fit();
}

} // namespace troupe::internal
