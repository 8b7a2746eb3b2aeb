// Waiting for room in the order of coming.
#pragma once

#include <troupe/store/internal/attachment/change_signal.hpp>
#include <troupe/store/internal/attachment/table_access.hpp>
#include <troupe/store/internal/table/object_table.hpp>

#include <cstdint>

namespace troupe::store::internal {

/// A place among those who wait for room. Given back at the end; where the lock cannot be had, by who comes behind.
class room_turn {
public:
  room_turn(control_view view, const process_id& self, const table_access& access, change_signal& changes)
      : view_(view), self_(self), access_(access), changes_(changes) {}
  room_turn(const room_turn&) = delete;
  room_turn& operator=(const room_turn&) = delete;
  ~room_turn();

  /// The least that anybody before this one waits for; 0: nobody does, and its turn has come.
  [[nodiscard]] std::uint64_t wanted_ahead(table_held held) const;

  /// Waits from now on for so much, unless it does already. Gives `done` or `need_waiters`.
  [[nodiscard]] outcome take(table_held held, std::uint64_t size_bytes);

private:
  control_view view_;
  const process_id& self_;
  const table_access& access_;
  change_signal& changes_;
  std::uint32_t row_ = no_row;
};

} // namespace troupe::store::internal
