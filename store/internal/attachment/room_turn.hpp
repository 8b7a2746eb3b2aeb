// The queue of callers that wait for room, in order of arrival.
#pragma once

#include <troupe/store/internal/attachment/change_signal.hpp>
#include <troupe/store/internal/attachment/table_access.hpp>
#include <troupe/store/internal/table/object_table.hpp>

#include <cstdint>

namespace troupe::store::internal {

/// A place in the queue of callers that wait for room. The destructor gives the place up. If it cannot lock the table,
/// a later waiter removes the entry.
class room_turn {
public:
  room_turn(control_view view, const process_id& self, const table_access& access, change_signal& changes)
      : view_(view), self_(self), access_(access), changes_(changes) {}
  room_turn(const room_turn&) = delete;
  room_turn& operator=(const room_turn&) = delete;
  ~room_turn();

  /// The smallest size that an earlier waiter wants; 0 if no earlier waiter is left.
  [[nodiscard]] std::uint64_t wanted_ahead(table_held held) const;

  /// Joins the queue for `size_bytes`, unless this place has joined already. Returns `done` or `need_waiters`.
  [[nodiscard]] outcome take(table_held held, std::uint64_t size_bytes);

private:
  control_view view_;
  const process_id& self_;
  const table_access& access_;
  change_signal& changes_;
  std::uint32_t row_ = no_row;
};

} // namespace troupe::store::internal
