#include <troupe/framework/internal/config/near_name.hpp>

#include <algorithm>
#include <numeric>
#include <vector>

namespace troupe::internal {

std::size_t distance(std::string_view one, std::string_view other) {
  // The previous rows of the table. There are two, because neighboring letters may be swapped.
  std::vector<std::size_t> before_last(other.size() + 1), last(other.size() + 1), current(other.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= one.size(); ++i) {
    current[0] = i;
    for (std::size_t j = 1; j <= other.size(); ++j) {
      auto changed = last[j - 1] + (one[i - 1] == other[j - 1] ? 0 : 1);
      current[j] = std::min({changed, last[j] + 1, current[j - 1] + 1});
      if (i > 1 && j > 1 && one[i - 1] == other[j - 2] && one[i - 2] == other[j - 1])
        current[j] = std::min(current[j], before_last[j - 2] + 1);
    }
    std::swap(before_last, last);
    std::swap(last, current);
  }
  return last[other.size()];
}

std::string_view nearest(std::string_view name, std::span<const std::string_view> known) {
  constexpr std::size_t name_bytes_max = 100; // Longer words are not mistyped keys.
  if (name.size() > name_bytes_max)
    return {};
  std::string_view best;
  auto least = std::max<std::size_t>(1, name.size() / 3) + 1;
  for (auto candidate : known)
    if (auto far = distance(name, candidate); far < least) {
      least = far;
      best = candidate;
    }
  return best;
}

std::string did_you_mean(std::string_view name, std::span<const std::string_view> known) {
  std::string text;
  if (auto near = nearest(name, known); !near.empty())
    text = "; did you mean \"" + std::string{near} + "\"? Known: ";
  else
    text = "; known: ";
  std::string_view separator;
  for (auto one : known) {
    text.append(separator).append(one);
    separator = ", ";
  }
  return text;
}

} // namespace troupe::internal
