// The lock of the object table: process-shared and robust, with its owner's slot beside it.
#pragma once

#include <troupe/store/internal/control_view.hpp>
#include <troupe/store/store_error.hpp>

#include <chrono>
#include <expected>
#include <utility>

namespace troupe::store::internal {

/// Holds the lock while it lives. No system call, no allocation and no copying of payload while one is around.
class table_guard {
public:
  table_guard(control_view view, std::uint32_t slot, bool recovered) : view_(view), recovered_(recovered) {
    view_.header().lock_owner.store(slot, std::memory_order_relaxed);
  }
  table_guard(table_guard&& other) noexcept : view_(other.view_), recovered_(other.recovered_) { other.owns_ = false; }
  table_guard(const table_guard&) = delete;
  table_guard& operator=(const table_guard&) = delete;
  table_guard& operator=(table_guard&&) = delete;
  ~table_guard() {
    if (!owns_)
      return;
    view_.header().lock_owner.store(no_slot, std::memory_order_relaxed);
    pthread_mutex_unlock(&view_.header().lock);
  }

  /// Whether the previous owner had died and the table was rebuilt: then there is somebody to reap.
  [[nodiscard]] bool recovered() const { return recovered_; }

private:
  control_view view_;
  bool recovered_;
  bool owns_ = true;
};

/// Makes the lock of a new store.
void init_table_lock(control_view view);

/// Takes the lock, rebuilding the table first where its last owner died. Fails with `busy`, naming the process that
/// kept it all the time, and with `corrupt` when the table cannot be rebuilt.
[[nodiscard]] std::expected<table_guard, store_error> lock_table(control_view view, std::uint32_t slot,
                                                                 std::chrono::milliseconds timeout);

/// The same without waiting: `busy` has no text then.
[[nodiscard]] std::expected<table_guard, store_error> try_lock_table(control_view view, std::uint32_t slot);

/// Between two holds of the lock in a long job: whoever gives a mutex back and takes it again at once keeps all others
/// waiting. Requires: this thread does not hold it.
void let_others_go_first(control_view view);

} // namespace troupe::store::internal
