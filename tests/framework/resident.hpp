// The resident memory of this process.
#pragma once

#include <cstddef>
#include <fstream>

#include <unistd.h>

namespace troupe::tests {

inline std::size_t resident_bytes() {
  std::ifstream file{"/proc/self/statm"};
  std::size_t all = 0, resident = 0;
  file >> all >> resident;
  return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

} // namespace troupe::tests
