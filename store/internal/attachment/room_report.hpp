// How much room a store has.
#pragma once

#include <troupe/store/internal/table/object_table.hpp>
#include <troupe/store/store_error.hpp>

#include <chrono>
#include <cstdint>
#include <string>

namespace troupe::store::internal {

/// Tells what hope there is of room.
class room_report {
public:
  room_report(control_view view, std::uint32_t slot, std::chrono::milliseconds lock_timeout)
      : view_(view), slot_(slot), lock_timeout_(lock_timeout) {}

  /// Of an object of that size; `why` is empty where all the others are held.
  [[nodiscard]] store_error full_error(std::uint64_t size_bytes, const std::string& why) const;

  /// Whether memory is full only until somebody has spilled; who has waited for that long enough believes it no more.
  /// Requires: the lock has been held since there was no room.
  [[nodiscard]] static bool is_being_made(table_held held, std::int64_t since_ns);

  /// Whether somebody could not write to the disk so lately that others will not do better.
  [[nodiscard]] static bool has_disk_failed(table_held held);

private:
  control_view view_;
  const std::uint32_t slot_;
  const std::chrono::milliseconds lock_timeout_;
};

} // namespace troupe::store::internal
