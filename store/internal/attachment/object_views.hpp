// Views of objects: in the store's memory, in their own files or, if memory and disk are full, in spill files.
#pragma once

#include <troupe/store/internal/attachment/held_objects.hpp>
#include <troupe/store/internal/attachment/object_memory.hpp>
#include <troupe/store/internal/attachment/own_files.hpp>
#include <troupe/store/internal/attachment/restorer.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <span>

namespace troupe::store::internal {

/// Makes the bytes of held objects readable in place.
///
/// Threads: any.
class object_views {
public:
  object_views(control_view view, const membership& member, held_objects& holds, const object_memory& memory,
               const own_files& files, restorer& disk)
      : view_(view), member_(member), holds_(holds), memory_(memory), files_(files), disk_(disk) {}

  /// Restores the object if it is spilled. Returns a mapping if the object lies outside the store's memory, else null.
  [[nodiscard]] std::expected<mapping_ptr, store_error> pin(std::uint32_t index,
                                                            const std::optional<std::chrono::milliseconds>& within);

  // Requires: the object is pinned, and `mapped` comes from pin().
  [[nodiscard]] std::span<const std::byte> payload_of(std::uint32_t index, const void* mapped) const {
    const auto& row = view_.object(index);
    return {begin_of(row, mapped) + round_up(row.metadata_bytes, alignment_bytes), row.size_bytes.load()};
  }
  [[nodiscard]] std::span<const std::byte> metadata_of(std::uint32_t index, const void* mapped) const {
    const auto& row = view_.object(index);
    return {begin_of(row, mapped), row.metadata_bytes};
  }

private:
  [[nodiscard]] const std::byte* begin_of(const object_row_entry& row, const void* mapped) const {
    return mapped == nullptr ? memory_.readable(row.offset) : static_cast<const std::byte*>(mapped);
  }

  control_view view_;
  const membership& member_;
  held_objects& holds_;
  const object_memory& memory_;
  const own_files& files_;
  restorer& disk_;
};

} // namespace troupe::store::internal
