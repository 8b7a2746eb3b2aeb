// The bytes of an object in the store, shared by several readers.
#pragma once

#include <chrono>
#include <expected>
#include <memory>
#include <mutex>
#include <optional>

#include <troupe/framework/node_errc.hpp>
#include <troupe/serializers/frame.hpp>
#include <troupe/store/handle.hpp>

namespace troupe::internal {

class stored_bytes;

/// One object's view, shared by all its readers. The object is pinned only while a frame of it lives, so that the store
/// may move it to disk in between.
///
/// Threads: any. No thread waits here for another thread that waits for the store.
class shared_view {
public:
  /// A frame, if one is alive.
  [[nodiscard]] std::optional<frame> known() const;
  /// A living frame, or a new one of `object`. `object` must be the same in every call. Waits and fails as map() does.
  [[nodiscard]] std::expected<frame, node_error> of(const store::handle& object,
                                                    const std::optional<std::chrono::milliseconds>& within) const;

private:
  mutable std::mutex mutex_;
  mutable std::weak_ptr<const stored_bytes> pinned_; // Guarded by mutex_.
};

} // namespace troupe::internal
