// Prepares memory ahead of need.
#pragma once

#include <troupe/store/internal/attachment/object_memory.hpp>
#include <troupe/store/internal/attachment/table_access.hpp>
#include <troupe/store/internal/files/data_pages.hpp>

#include <atomic>
#include <cstdint>

namespace troupe::store::internal {

/// Prepares for this process the memory that will be used next.
///
/// Threads: any. One thread at a time touches.
class page_toucher {
public:
  /// `ahead_bytes` is the amount to keep ready; 0: none.
  page_toucher(const table_access& access, const object_memory& memory, data_pages& pages, std::uint64_t ahead_bytes)
      : access_(access), memory_(memory), pages_(pages), ahead_bytes_(ahead_bytes) {}

  /// Whether more than a quarter of that amount is missing.
  [[nodiscard]] bool has_to_touch(table_held held) const;

  /// Prepares at most 4 MiB. Returns whether more may be left. Failures are not reported here, because the call that
  /// needs the memory gets the error. Room below `data_top` gets no pages here, because it may be reserved for bytes
  /// that never arrive.
  bool touch_some();

private:
  const table_access& access_;
  const object_memory& memory_;
  data_pages& pages_;
  const std::uint64_t ahead_bytes_;
  std::atomic<std::uint64_t> touched_bytes_{0}; // This much of the data file, from its beginning, is ready.
};

} // namespace troupe::store::internal
