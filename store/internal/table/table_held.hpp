// What the table's lock gives to whoever holds it.
#pragma once

#include <troupe/store/internal/table/control_view.hpp>

namespace troupe::store::internal {

/// Proves that its bearer holds the table's lock: without one there is no way to what the lock guards. A table_guard
/// turns into one; it is worth nothing once that guard is gone.
class table_held {
public:
  /// For the lock itself, for who rebuilds the table, and for who is alone with a store: nobody else has it open.
  [[nodiscard]] static table_held vouched_for(control_view view) { return table_held{view}; }

  [[nodiscard]] control_view view() const { return view_; }

private:
  explicit table_held(control_view view) : view_(view) {}

  control_view view_;
};

} // namespace troupe::store::internal
