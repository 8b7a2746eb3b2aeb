// Counts the file descriptors that this process has open.
#pragma once

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <iterator>

namespace troupe::tests {

/// Includes the descriptor that is opened to count the others.
inline std::size_t open_descriptors() {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator{"/proc/self/fd"}, {}));
}

/// Counts correctly while other threads open and close descriptors: a descriptor opened during the count may reuse the
/// number of one already counted, so this returns the least of five counts.
inline std::size_t held_descriptors() {
  auto least = open_descriptors();
  for (int i = 0; i < 4; ++i)
    least = std::min(least, open_descriptors());
  return least;
}

} // namespace troupe::tests
