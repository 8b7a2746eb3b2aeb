// Memory that is ready before somebody needs it.
#pragma once

#include <troupe/store/internal/attachment/object_memory.hpp>
#include <troupe/store/internal/attachment/table_access.hpp>
#include <troupe/store/internal/files/data_pages.hpp>

#include <atomic>
#include <cstdint>

namespace troupe::store::internal {

/// Makes the memory that comes to be used next ready for this process.
///
/// Threads: any; one at a time touches.
class page_toucher {
public:
  /// `ahead_bytes` is how much is to be ready; 0: nothing is.
  page_toucher(const table_access& access, const object_memory& memory, data_pages& pages, std::uint64_t ahead_bytes)
      : access_(access), memory_(memory), pages_(pages), ahead_bytes_(ahead_bytes) {}

  /// Whether there is less ready than was asked for, by enough to be worth it.
  [[nodiscard]] bool has_to_touch(table_held held) const;

  /// Gives whether more memory is left to touch. A failure is not reported here: whoever needs the memory gets the
  /// error. Room below `data_top` gets no pages here: somebody may have claimed it for bytes that never come.
  bool touch_some();

private:
  const table_access& access_;
  const object_memory& memory_;
  data_pages& pages_;
  const std::uint64_t ahead_bytes_;
  std::atomic<std::uint64_t> touched_bytes_{0}; // Of the data file, from its beginning; ready for this process.
};

} // namespace troupe::store::internal
