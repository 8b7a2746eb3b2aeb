#include "bench/load/knee.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace troupe::tools {

knee_search::knee_search(double first, double least, double most) : first_(first), least_(least), most_(most) {
  assert(least > 0);
  assert(least <= first);
  assert(first <= most);
}

std::optional<double> knee_search::next() const {
  if (good_ && bad_)
    return *bad_ / *good_ > 1 + precision ? std::optional{std::sqrt(*good_ * *bad_)} : std::nullopt;
  if (good_)
    return *good_ < most_ ? std::optional{std::min(2 * *good_, most_)} : std::nullopt;
  if (bad_)
    return *bad_ > least_ ? std::optional{std::max(*bad_ / 2, least_)} : std::nullopt;
  return first_;
}

void knee_search::take(bool is_sustained) {
  const auto tried = next();
  assert(tried);
  (is_sustained ? good_ : bad_) = tried;
}

} // namespace troupe::tools
