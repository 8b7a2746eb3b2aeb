// Moving objects from disk to memory.
#pragma once

#include <troupe/store/fwd.hpp>
#include <troupe/store/internal/attachment/change_signal.hpp>
#include <troupe/store/internal/attachment/half_done_moves.hpp>
#include <troupe/store/internal/attachment/object_memory.hpp>
#include <troupe/store/internal/attachment/reaper.hpp>
#include <troupe/store/internal/attachment/room_report.hpp>
#include <troupe/store/internal/attachment/spiller.hpp>
#include <troupe/store/internal/attachment/store_errors.hpp>
#include <troupe/store/internal/attachment/table_access.hpp>
#include <troupe/store/internal/files/data_pages.hpp>
#include <troupe/store/internal/spill/spill_directory.hpp>
#include <troupe/store/store_error.hpp>

#include <chrono>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>

namespace troupe::store::internal {

/// Brings spilled objects back into memory.
///
/// Threads: any.
class restorer {
public:
  struct needs {
    const process_id& self;
    const std::chrono::milliseconds& full_grace;
    const table_access& access;
    const object_memory& memory;
    data_pages& pages;
    const spill_directory& files;
    spiller& room;
    const room_report& report;
    half_done_moves& half_done;
    reaper& dead;
    change_signal& changes;
    const store_errors& errors;
  };
  restorer(control_view view, const needs& uses) : view_(view), uses_(uses) {}

  /// Brings the object back, or waits until another thread or process has done so. If the disk takes no data to make
  /// room for the object, returns a mapping of the object's copy there, else null. Requires: this process holds and
  /// pins the object.
  [[nodiscard]] std::expected<mapping_ptr, store_error> restore(std::uint32_t index,
                                                                const std::optional<std::chrono::milliseconds>& within);

private:
  class attempt;

  [[nodiscard]] store_error slow_error(std::uint32_t index, std::uint32_t worker,
                                       std::chrono::nanoseconds waited) const;
  [[nodiscard]] std::expected<void, store_error> read_back(std::uint32_t index, const disk_pause& pause);
  [[nodiscard]] std::expected<void, store_error> read_bytes_back(std::uint32_t index, const disk_pause& pause);
  [[nodiscard]] std::expected<mapping_ptr, store_error> map_copy(std::uint32_t index, const disk_pause& pause) const;

  control_view view_;
  const needs uses_;
};

} // namespace troupe::store::internal
