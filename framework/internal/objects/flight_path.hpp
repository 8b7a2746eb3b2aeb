// How objects get from one end of a link to the other, in a store that both ends have open.
#pragma once

#include <cstdint>
#include <expected>

#include <troupe/framework/internal/net/link_mutex.hpp>
#include <troupe/store/hold_reason.hpp>
#include <troupe/store/object_id.hpp>
#include <troupe/store/store_error.hpp>

namespace troupe::internal {

/// One more hold on the object, under reason `why` if the handle counts by reasons.
template <class Handle>
[[nodiscard]] Handle held_for(const Handle& object, store::hold_reason why) {
  if constexpr (requires { object.held_for(why); })
    return object.held_for(why);
  else
    return object;
}

/// The two directions of one link through the store. Objects in flight there are kept even if either end dies. `Handle`
/// holds one object and has its `id()`. Dropping it does not wait.
///
/// Threads: any. All members except release() may wait for the store's table, so they must not be called under a link's
/// lock.
template <class Handle>
class flight_path {
public:
  virtual ~flight_path() = default;

  /// Counts one handle in flight to the peer. Fails if it cannot be counted now.
  [[nodiscard]] virtual std::expected<void, store::store_error> hand_over(const Handle& object) = 0;
  /// Undoes one hand_over() if the handle is still in flight.
  virtual void take_back(const Handle& object) = 0;
  /// Turns one handle in flight to this end into a held one. Fails with `not_found` if none is in flight.
  [[nodiscard]] virtual std::expected<Handle, store::store_error> adopt(const store::object_id& id) = 0;
  /// Drops all handles in flight to this end, now and later.
  [[nodiscard]] virtual std::expected<void, store::store_error> abandon() = 0;

  /// Tells the peer that this end no longer needs `count` of the handles that it received.
  virtual void release(const link_held& held, const store::object_id& id, std::uint64_t count) = 0;
};

} // namespace troupe::internal
