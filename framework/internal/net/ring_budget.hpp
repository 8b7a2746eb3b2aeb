// The memory bound for the rings of a node's links.
#pragma once

#include <atomic>
#include <cstdint>

namespace troupe::internal {

/// Counts the memory of all rings of a node against a bound. Threads: any.
class ring_budget {
public:
  explicit ring_budget(std::uint64_t bytes_max) : left_(bytes_max) {}
  ring_budget(const ring_budget&) = delete;
  ring_budget& operator=(const ring_budget&) = delete;

  /// Takes nothing and returns false if less is left.
  [[nodiscard]] bool take(std::uint64_t bytes) noexcept {
    auto left = left_.load(std::memory_order_relaxed);
    do {
      if (left < bytes)
        return false;
    } while (!left_.compare_exchange_weak(left, left - bytes, std::memory_order_relaxed));
    return true;
  }
  void give_back(std::uint64_t bytes) noexcept { left_.fetch_add(bytes, std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t left() const noexcept { return left_.load(std::memory_order_relaxed); }

private:
  std::atomic<std::uint64_t> left_; // No other memory depends on its order.
};

} // namespace troupe::internal
