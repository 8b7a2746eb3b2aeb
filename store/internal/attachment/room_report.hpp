// Reports about the room of a store.
#pragma once

#include <troupe/store/internal/table/object_table.hpp>
#include <troupe/store/store_error.hpp>

#include <chrono>
#include <cstdint>
#include <string>

namespace troupe::store::internal {

/// Reports whether waiting for room makes sense.
class room_report {
public:
  room_report(control_view view, std::uint32_t slot, std::chrono::milliseconds lock_timeout)
      : view_(view), slot_(slot), lock_timeout_(lock_timeout) {}

  /// The error `code` for an object of that size. `why` is empty if all other objects are held.
  [[nodiscard]] store_error full_error(std::uint64_t size_bytes, const std::string& why,
                                       store_errc code = store_errc::full) const;

  /// Whether memory is full only until a spill in progress ends. False once a caller has waited for that for 30 s since
  /// `since_ns`. Requires: the lock has been held since the attempt that found no room.
  [[nodiscard]] static bool is_being_made(table_held held, std::int64_t since_ns);

  /// Whether a write to the disk failed so recently that another write would fail as well.
  [[nodiscard]] static bool has_disk_failed(table_held held);

private:
  control_view view_;
  const std::uint32_t slot_;
  const std::chrono::milliseconds lock_timeout_;
};

} // namespace troupe::store::internal
