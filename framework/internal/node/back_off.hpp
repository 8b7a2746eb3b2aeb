// The pauses between dials: pure, by numbers.
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

/// The pause before dial number `again` of those that follow each other without success, from 1; `chance` is from 0 to
/// 1, and 0 leaves the pause as it is.
[[nodiscard]] std::chrono::milliseconds pause_before(std::size_t again, const reconnect_policy& policy, double chance);

/// What is wrong with a policy; empty: nothing.
[[nodiscard]] std::string problem_of(const reconnect_policy& policy);

/// How often, and when, one peer is dialed again.
class back_off {
public:
  back_off(const reconnect_policy& policy, std::uint64_t seed) : policy_(policy), random_(seed) {}

  /// A dial has failed. The pause until the next; nullopt where there is none.
  [[nodiscard]] std::optional<std::chrono::milliseconds> failed();

  /// A dial has led to a link.
  void connected() { failed_ = 0; }

  /// The link is lost that lived for so long. The pause until the next dial; nullopt where there is none.
  [[nodiscard]] std::optional<std::chrono::milliseconds> lost(std::chrono::milliseconds lived);

private:
  [[nodiscard]] std::chrono::milliseconds next();

  reconnect_policy policy_;
  std::mt19937_64 random_;
  std::size_t failed_ = 0; // Dials in a row.
  std::size_t pauses_ = 0; // Since a link lived for long.
};

} // namespace troupe::internal
