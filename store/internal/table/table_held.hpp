// The proof that the table's lock is held.
#pragma once

#include <troupe/store/internal/table/control_view.hpp>

namespace troupe::store::internal {

/// Proves that the current thread holds the table's lock. All access to the guarded data needs this proof. A
/// table_guard converts to it. Valid only as long as that guard lives.
class table_held {
public:
  /// Only for the lock itself, for rebuilding the table, and for a process that alone has the store open.
  [[nodiscard]] static table_held vouched_for(control_view view) { return table_held{view}; }

  [[nodiscard]] control_view view() const { return view_; }

private:
  explicit table_held(control_view view) : view_(view) {}

  control_view view_;
};

} // namespace troupe::store::internal
