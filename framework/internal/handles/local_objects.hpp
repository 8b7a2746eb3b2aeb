// What the ledger of handles asks of the store.
#pragma once

#include <cstdint>
#include <vector>

#include <troupe/framework/internal/handles/messages.hpp>

namespace troupe::internal::handles {

/// The store as the ledger sees it. Calls return at once; none calls back.
class local_objects {
public:
  virtual ~local_objects() = default;

  /// One more hold of this process. Requires: something keeps the object at this moment.
  virtual void hold(const object_id& place) = 0;
  virtual void drop(const object_id& place) = 0;

  [[nodiscard]] virtual std::uint64_t size_of(const object_id& place) const = 0;
  [[nodiscard]] virtual std::vector<object_id> captured_by(const object_id& place) const = 0;

  /// By which any process of this store's knows the object again. Requires: it is held.
  [[nodiscard]] virtual home_name home_of(const object_id& place) = 0;
  /// One more hold of an object of this store's, named by a peer. False where it is not of this store or is gone, has
  /// another size, or the proof is wrong; or the store could not be asked.
  [[nodiscard]] virtual bool hold_at_home(const home_name& which, std::uint64_t size_bytes) = 0;

  /// Counts one handle in flight to the peer of `link`, on this end's channel. False when that cannot be done now.
  [[nodiscard]] virtual bool hand_over(const object_id& place, link_number link) = 0;

  enum class adoption : std::uint8_t {
    done,   // The count in flight is a hold of this process now.
    absent, // Nothing is in flight.
    busy,   // The store could not be asked.
  };
  [[nodiscard]] virtual adoption adopt(const object_id& place, link_number link) = 0;
};

} // namespace troupe::internal::handles
