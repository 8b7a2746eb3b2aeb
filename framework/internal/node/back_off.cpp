#include <troupe/framework/internal/node/back_off.hpp>

#include <algorithm>
#include <cmath>

namespace troupe::internal {

std::chrono::milliseconds pause_before(std::size_t again, const reconnect_policy& policy, double chance) {
  const auto longest = static_cast<double>(policy.longest_pause->count());
  const auto first = static_cast<double>(policy.first_pause->count());
  const auto grown = first * std::pow(policy.growth, static_cast<double>(again - 1)); // Infinite for large `again`.
  const auto pause = std::min(grown, longest) * (1 - policy.jitter * chance);
  return std::chrono::milliseconds{std::llround(pause)};
}

std::string problem_of(const reconnect_policy& policy) {
  if (policy.first_pause->count() < 1)
    return "first_pause of " + std::to_string(policy.first_pause->count()) + " ms: it is at least 1 ms";
  if (*policy.longest_pause < *policy.first_pause)
    return "longest_pause of " + std::to_string(policy.longest_pause->count()) + " ms is shorter than first_pause of "
           + std::to_string(policy.first_pause->count()) + " ms";
  if (*policy.longest_pause > std::chrono::hours{24 * 3650})
    return "longest_pause is at most ten years";
  if (!(policy.growth >= 1 && policy.growth <= 100))
    return "growth of " + std::to_string(policy.growth) + ": it is from 1 to 100";
  if (!(policy.jitter >= 0 && policy.jitter <= 1))
    return "jitter of " + std::to_string(policy.jitter) + ": it is from 0 to 1";
  if (*policy.attempts_max && *policy.attempts_max == 0)
    return "attempts_max is 0: no peer would ever be dialed";
  return {};
}

std::optional<std::chrono::milliseconds> back_off::failed() {
  ++failed_;
  if (*policy_.kind == reconnect::none || (*policy_.attempts_max && failed_ >= *policy_.attempts_max))
    return std::nullopt;
  return next();
}

std::optional<std::chrono::milliseconds> back_off::lost(std::chrono::milliseconds lived) {
  if (policy_.kind == reconnect::none)
    return std::nullopt;
  if (lived >= *policy_.longest_pause)
    pauses_ = 0;
  return next();
}

std::chrono::milliseconds back_off::next() {
  // Computed by hand, since std::uniform_real_distribution gives different results on different platforms.
  const auto chance = static_cast<double>(random_() >> 11) * 0x1p-53;
  return pause_before(++pauses_, policy_, chance);
}

} // namespace troupe::internal
