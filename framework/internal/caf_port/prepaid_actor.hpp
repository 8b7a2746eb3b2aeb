// References to one actor, counted in batches.
#pragma once

#include <atomic>
#include <cstddef>
#include <utility>

#include <caf/actor_control_block.hpp>

namespace troupe::internal {

/// Hands out references that are counted in batches, because each single count is an atomic operation on a shared cache
/// line.
///
/// Threads: one; the references may be dropped on any.
class prepaid_actor {
public:
  prepaid_actor() = default;
  explicit prepaid_actor(caf::strong_actor_ptr actor) noexcept : actor_(std::move(actor)) {}
  prepaid_actor(prepaid_actor&& other) noexcept
      : actor_(std::move(other.actor_)), stock_(std::exchange(other.stock_, 0)) {}
  prepaid_actor& operator=(prepaid_actor&& other) noexcept {
    std::swap(actor_, other.actor_);
    std::swap(stock_, other.stock_);
    return *this;
  }
  ~prepaid_actor() {
    if (stock_ > 0) // Never the last references: actor_ holds one more.
      actor_->strong_refs.fetch_sub(stock_, std::memory_order_release);
  }

  /// Null if there is no actor.
  [[nodiscard]] const caf::strong_actor_ptr& get() const noexcept { return actor_; }

  /// One more reference; null if there is no actor.
  [[nodiscard]] caf::strong_actor_ptr take() noexcept {
    constexpr std::size_t counted_together = 64;
    if (!actor_)
      return nullptr;
    if (stock_ == 0) {
      actor_->strong_refs.fetch_add(counted_together, std::memory_order_relaxed);
      stock_ = counted_together;
    }
    --stock_;
    return caf::strong_actor_ptr{actor_.get(), false};
  }

private:
  caf::strong_actor_ptr actor_;
  std::size_t stock_ = 0;
};

} // namespace troupe::internal
