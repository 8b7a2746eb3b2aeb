// Keeps the memory of lists that are reused for message after message, so that small messages allocate nothing.
// Releases the memory of a large message.
#pragma once

#include <cstddef>
#include <vector>

namespace troupe::internal {

/// Empties a list for reuse. Keeps its memory up to `kept_bytes_max`.
template <class T>
void empty_for_reuse(std::vector<T>& list, std::size_t kept_bytes_max = 1024) {
  list.clear();
  if (list.capacity() * sizeof(T) > kept_bytes_max)
    list.shrink_to_fit();
}

} // namespace troupe::internal
