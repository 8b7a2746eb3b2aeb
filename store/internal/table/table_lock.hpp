// The lock of the object table: process-shared and robust, with its owner's slot beside it.
#pragma once

#include <troupe/store/internal/table/hints.hpp>
#include <troupe/store/internal/table/table_held.hpp>
#include <troupe/store/store_error.hpp>

#include <chrono>
#include <expected>
#include <utility>

namespace troupe::store::internal {

/// Reclaims some of the hinted rows, unless another thread or process holds the lock and thus will reclaim them. `self`
/// is the caller's slot.
void reclaim_hinted(control_view view, std::uint32_t self) noexcept;

/// Like reclaim_hinted(), for a holder of the lock.
void reclaim_some(table_held held) noexcept;

/// Holds the lock during its lifetime. While it exists, its thread makes no system call, allocates nothing and copies
/// no payload.
class table_guard {
public:
  table_guard(control_view view, std::uint32_t slot) : view_(view), slot_(slot) {
    view_.header().lock_owner.store(slot, std::memory_order_relaxed);
  }
  table_guard(table_guard&& other) noexcept : view_(other.view_), slot_(other.slot_) { other.owns_ = false; }
  table_guard(const table_guard&) = delete;
  table_guard& operator=(const table_guard&) = delete;
  table_guard& operator=(table_guard&&) = delete;
  ~table_guard() {
    if (!owns_)
      return;
    if (looks_for_hints_ && any_hint(view_.hints())) [[unlikely]]
      reclaim_some(*this);
    view_.header().lock_owner.store(no_slot, std::memory_order_relaxed);
    pthread_mutex_unlock(&view_.header().lock);
    if (looks_for_hints_ && any_hint(view_.hints())) [[unlikely]] // A hint given while the lock was held.
      reclaim_hinted(view_, slot_);
  }

  // NOLINTNEXTLINE: a guard is a proof; not of a temporary, which is gone before the proof is used.
  operator table_held() const& { return table_held::vouched_for(view_); }
  operator table_held() const&& = delete;

  /// For a caller that has just reclaimed a full batch.
  void leave_hints() { looks_for_hints_ = false; }

private:
  control_view view_;
  std::uint32_t slot_;
  bool looks_for_hints_ = true;
  bool owns_ = true;
};

/// Initializes the lock of a new store.
void init_table_lock(control_view view);

/// Acquires the lock. If its last owner died, rebuilds the table first and sets `reap_wanted`. Fails with `busy`,
/// naming the process that held the lock all the time, with `corrupt` if the table cannot be rebuilt, or with
/// `system_failure`.
[[nodiscard]] std::expected<table_guard, store_error> lock_table(control_view view, std::uint32_t slot,
                                                                 std::chrono::milliseconds timeout);

/// Like lock_table(), without waiting; `busy` then has no text.
[[nodiscard]] std::expected<table_guard, store_error> try_lock_table(control_view view, std::uint32_t slot);

/// Call this between two holds of the lock in a long job. Otherwise a thread that releases a mutex and locks it again
/// at once keeps all others waiting. Requires: this thread does not hold the lock.
void let_others_go_first(control_view view);

} // namespace troupe::store::internal
