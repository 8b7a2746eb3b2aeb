// How objects get from one end of a link to the other in a store that both have open.
#pragma once

#include <cstdint>
#include <expected>

#include <troupe/framework/internal/net/link_mutex.hpp>
#include <troupe/store/hold_reason.hpp>
#include <troupe/store/object_id.hpp>
#include <troupe/store/store_error.hpp>

namespace troupe::internal {

/// One more hold, for that reason where the handle counts by reasons.
template <class Handle>
[[nodiscard]] Handle held_for(const Handle& object, store::hold_reason why) {
  if constexpr (requires { object.held_for(why); })
    return object.held_for(why);
  else
    return object;
}

/// The two ways of one link through the store: what is in flight there is kept, whichever end dies. `Handle` holds one
/// object and has its `id()`; dropping it does not wait.
///
/// Threads: any. All but release() may wait for the store's table, so none of them is called under a link's lock.
template <class Handle>
class flight_path {
public:
  virtual ~flight_path() = default;

  /// Counts one handle in flight to the peer; fails where it cannot be counted now.
  [[nodiscard]] virtual std::expected<void, store::store_error> hand_over(const Handle& object) = 0;
  /// Undoes one hand_over(), if it is in flight still.
  virtual void take_back(const Handle& object) = 0;
  /// One handle that is in flight to this end becomes this one. Fails with `not_found` where none is.
  [[nodiscard]] virtual std::expected<Handle, store::store_error> adopt(const store::object_id& id) = 0;
  /// Drops what is in flight to this end, now and later.
  [[nodiscard]] virtual std::expected<void, store::store_error> abandon() = 0;

  /// Says to the peer that this end needs so many receipts no more.
  virtual void release(const link_held& held, const store::object_id& id, std::uint64_t count) = 0;
};

} // namespace troupe::internal
