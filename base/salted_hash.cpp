#include <troupe/base/salted_hash.hpp>

#include <random>

namespace troupe::detail {

std::uint64_t random_salt() {
  std::random_device random;
  return std::uint64_t{random()} << 32 | random();
}

} // namespace troupe::detail
