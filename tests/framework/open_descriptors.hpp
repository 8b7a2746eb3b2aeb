// How many descriptors this process has open.
#pragma once

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <iterator>

namespace troupe::tests {

/// The one that it looks with included.
inline std::size_t open_descriptors() {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator{"/proc/self/fd"}, {}));
}

/// The same while other threads open and close some: a descriptor that is opened while the others are counted may have
/// taken the place of one that was counted already. So the least of several counts.
inline std::size_t held_descriptors() {
  auto least = open_descriptors();
  for (int i = 0; i < 4; ++i)
    least = std::min(least, open_descriptors());
  return least;
}

} // namespace troupe::tests
