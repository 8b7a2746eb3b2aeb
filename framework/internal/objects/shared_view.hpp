// The bytes of an object in the store, as several read them.
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

/// The view of one object that all who read it share. It is pinned only while a frame of it lives, so that the store
/// may move it to disk in between. Any thread; none waits here for another that waits for the store.
class shared_view {
public:
  /// A frame, where one is alive.
  [[nodiscard]] std::optional<frame> known() const;
  /// The same, or a new one of `object`, always the same object. Waits and fails as map() does.
  [[nodiscard]] std::expected<frame, node_error> of(const store::handle& object,
                                                    const std::optional<std::chrono::milliseconds>& within) const;

private:
  mutable std::mutex mutex_;
  mutable std::weak_ptr<const stored_bytes> pinned_; // Guarded by mutex_.
};

} // namespace troupe::internal
