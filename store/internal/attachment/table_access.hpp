// This process's way to the table's lock.
#pragma once

#include <troupe/store/internal/attachment/background.hpp>
#include <troupe/store/internal/attachment/membership.hpp>
#include <troupe/store/internal/table/table_lock.hpp>
#include <troupe/store/store_error.hpp>

#include <chrono>
#include <expected>

namespace troupe::store::internal {

/// Gives the table's lock to a process that has its slot in the store.
///
/// Threads: any.
class table_access {
public:
  /// Requests a reaping from `unasked` if a process died with the lock. If `can_count` is false, this process cannot
  /// count its handles, and lock() fails.
  table_access(control_view view, const membership& member, background& unasked, std::chrono::milliseconds timeout,
               bool can_count)
      : view_(view), member_(member), unasked_(unasked), timeout_(timeout), can_count_(can_count) {}

  /// Fails with `busy`, `forked`, `detached`, `corrupt` or `system_failure`.
  [[nodiscard]] std::expected<table_guard, store_error> lock() const;

private:
  control_view view_;
  const membership& member_;
  background& unasked_;
  const std::chrono::milliseconds timeout_;
  const bool can_count_;
};

} // namespace troupe::store::internal
