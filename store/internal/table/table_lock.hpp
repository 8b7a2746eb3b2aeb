// The lock of the object table: process-shared and robust, with its owner's slot beside it.
#pragma once

#include <troupe/store/internal/table/hints.hpp>
#include <troupe/store/internal/table/table_held.hpp>
#include <troupe/store/store_error.hpp>

#include <chrono>
#include <expected>
#include <utility>

namespace troupe::store::internal {

/// Reclaims some of what was hinted at, unless somebody has the lock, who will do it. `self` is the caller's slot.
void reclaim_hinted(control_view view, std::uint32_t self) noexcept;

/// The same for who has the lock.
void reclaim_some(table_held held) noexcept;

/// Holds the lock while it lives. No system call, no allocation and no copying of payload while one is around.
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
    if (looks_for_hints_ && any_hint(view_.hints())) [[unlikely]] // Somebody could not have the lock meanwhile.
      reclaim_hinted(view_, slot_);
  }

  // NOLINTNEXTLINE: a guard is a proof; not of a temporary, which is gone before the proof is used.
  operator table_held() const& { return table_held::vouched_for(view_); }
  operator table_held() const&& = delete;

  /// For who has just reclaimed as much as one call should.
  void leave_hints() { looks_for_hints_ = false; }

private:
  control_view view_;
  std::uint32_t slot_;
  bool looks_for_hints_ = true;
  bool owns_ = true;
};

/// Makes the lock of a new store.
void init_table_lock(control_view view);

/// Takes the lock, rebuilding the table first where its last owner died: then `reap_wanted` is set. Fails with `busy`,
/// naming the process that kept it all the time, and with `corrupt` when the table cannot be rebuilt.
[[nodiscard]] std::expected<table_guard, store_error> lock_table(control_view view, std::uint32_t slot,
                                                                 std::chrono::milliseconds timeout);

/// The same without waiting: `busy` has no text then.
[[nodiscard]] std::expected<table_guard, store_error> try_lock_table(control_view view, std::uint32_t slot);

/// Between two holds of the lock in a long job: whoever gives a mutex back and takes it again at once keeps all others
/// waiting. Requires: this thread does not hold it.
void let_others_go_first(control_view view);

} // namespace troupe::store::internal
