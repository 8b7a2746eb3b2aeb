// Waiting for objects.
#pragma once

#include <troupe/store/internal/attachment/change_signal.hpp>
#include <troupe/store/internal/attachment/object_finder.hpp>
#include <troupe/store/internal/attachment/reaper.hpp>
#include <troupe/store/store_error.hpp>

#include <chrono>
#include <cstddef>
#include <expected>
#include <functional>
#include <span>
#include <vector>

namespace troupe::store::internal {

/// Waits for changes by other threads and processes.
///
/// Threads: any.
class object_waiter {
public:
  object_waiter(const membership& member, const object_finder& finder, reaper& dead, change_signal& changes)
      : member_(member), finder_(finder), dead_(dead), changes_(changes) {}

  /// Returns `how_many` of `ids` as soon as that many are sealed, or fewer when `timeout` has passed.
  [[nodiscard]] std::expected<std::vector<object_id>, store_error>
  wait(std::span<const object_id> ids, std::size_t how_many, std::chrono::milliseconds timeout);
  /// Returns whether `is_so` became true within `timeout`.
  [[nodiscard]] std::expected<bool, store_error> wait_until(const std::function<bool()>& is_so,
                                                            std::chrono::milliseconds timeout);

private:
  const membership& member_;
  const object_finder& finder_;
  reaper& dead_;
  change_signal& changes_;
};

} // namespace troupe::store::internal
