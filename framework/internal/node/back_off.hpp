// The pauses between dials. Pure computation.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <random>
#include <string>

#include <troupe/framework/reconnect_policy.hpp>

namespace troupe::internal {

/// The pause before retry number `again`, counted from 1, of consecutive failures. `chance` is from 0 to 1. With 0
/// nothing is subtracted at random.
[[nodiscard]] std::chrono::milliseconds pause_before(std::size_t again, const reconnect_policy& policy, double chance);

/// What is wrong with a policy; empty if it is valid.
[[nodiscard]] std::string problem_of(const reconnect_policy& policy);

/// Decides whether and when to dial one peer again.
class back_off {
public:
  back_off(const reconnect_policy& policy, std::uint64_t seed) : policy_(policy), random_(seed) {}

  /// A dial has failed. Returns the pause until the next one; nullopt if there will be none.
  [[nodiscard]] std::optional<std::chrono::milliseconds> failed();

  /// A dial has led to a link.
  void connected() { failed_ = 0; }

  /// A link that lived for `lived` is lost. Returns the pause until the next dial; nullopt if there will be none.
  [[nodiscard]] std::optional<std::chrono::milliseconds> lost(std::chrono::milliseconds lived);

private:
  [[nodiscard]] std::chrono::milliseconds next();

  reconnect_policy policy_;
  std::mt19937_64 random_;
  std::size_t failed_ = 0; // Consecutive failed dials.
  std::size_t pauses_ = 0; // Pauses since a link last lived long.
};

} // namespace troupe::internal
