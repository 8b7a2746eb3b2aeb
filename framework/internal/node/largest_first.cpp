#include <troupe/framework/internal/node/largest_first.hpp>

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

namespace troupe::internal {

std::vector<std::size_t> put_largest_first(std::vector<memory_object>& objects) {
  std::vector<std::size_t> places(objects.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  if (std::ranges::is_sorted(objects, std::ranges::greater{}, &memory_object::size_bytes))
    return places;
  std::ranges::stable_sort(places, std::ranges::greater{}, [&](std::size_t at) { return objects[at].size_bytes; });
  std::vector<memory_object> in_order;
  in_order.reserve(objects.size());
  for (const auto at : places)
    in_order.push_back(std::move(objects[at]));
  objects = std::move(in_order);
  return places;
}

} // namespace troupe::internal
