// Room for new objects.
#pragma once

#include <troupe/store/internal/attachment/background.hpp>
#include <troupe/store/internal/attachment/change_signal.hpp>
#include <troupe/store/internal/attachment/held_objects.hpp>
#include <troupe/store/internal/attachment/object_memory.hpp>
#include <troupe/store/internal/attachment/page_toucher.hpp>
#include <troupe/store/internal/attachment/reaper.hpp>
#include <troupe/store/internal/attachment/room_report.hpp>
#include <troupe/store/internal/attachment/room_turn.hpp>
#include <troupe/store/internal/attachment/spiller.hpp>
#include <troupe/store/internal/attachment/store_errors.hpp>
#include <troupe/store/internal/attachment/table_access.hpp>
#include <troupe/store/internal/attachment/table_growth.hpp>
#include <troupe/store/internal/files/data_pages.hpp>
#include <troupe/store/store_error.hpp>

#include <chrono>
#include <cstdint>
#include <expected>
#include <span>
#include <string>

namespace troupe::store::internal {

/// Allocates rows and extents for new objects. Callers that wait for room are served in order of arrival.
///
/// Threads: any.
class room_maker {
public:
  struct needs {
    const process_id& self;
    const table_access& access;
    held_objects& holds;
    const object_memory& memory;
    data_pages& pages;
    const page_toucher& toucher;
    spiller& disk;
    const room_report& report;
    table_growth& growth;
    reaper& dead;
    change_signal& changes;
    background& unasked;
    const store_errors& errors;
  };
  room_maker(control_view view, const needs& uses) : view_(view), uses_(uses) {}

  /// Makes a row in the state `writing` for each of `wanted`, all or none. A row that does not grow also gets its
  /// pages.
  [[nodiscard]] std::expected<void, store_error>
  make(std::span<const creation> wanted, std::span<std::uint32_t> indexes, std::chrono::milliseconds grace);

  /// Makes the row of an object that will have its own file and so needs no room in memory.
  [[nodiscard]] std::expected<std::uint32_t, store_error> make_row_with_file(const creation& wanted);

private:
  class attempt;

  [[nodiscard]] std::expected<void, store_error> commit_all(std::span<const creation> wanted,
                                                            std::span<const std::uint32_t> indexes);

  control_view view_;
  const needs uses_;
};

} // namespace troupe::store::internal
