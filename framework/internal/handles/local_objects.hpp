// The interface through which the ledger of handles uses the store.
#pragma once

#include <cstdint>
#include <vector>

#include <troupe/framework/internal/handles/messages.hpp>

namespace troupe::internal::handles {

/// The store as the ledger sees it. Calls return at once. None calls back.
class local_objects {
public:
  virtual ~local_objects() = default;

  /// Adds one hold of this process. Requires: something keeps the object alive at this moment.
  virtual void hold(const object_id& place) = 0;
  virtual void drop(const object_id& place) = 0;

  [[nodiscard]] virtual std::uint64_t size_of(const object_id& place) const = 0;
  [[nodiscard]] virtual std::vector<object_id> captured_by(const object_id& place) const = 0;

  /// A name by which any process that has this store open can find the object again. Requires: the object is held.
  [[nodiscard]] virtual home_name home_of(const object_id& place) = 0;
  /// Adds one hold of an object of this store that a peer has named. Returns false if the object is in another store or
  /// gone, if its size or the proof is wrong, or if the store could not be asked.
  [[nodiscard]] virtual bool hold_at_home(const home_name& which, std::uint64_t size_bytes) = 0;

  /// Counts one handle in flight to the peer of `link`, on this end's channel. Returns false if that is not possible
  /// now.
  [[nodiscard]] virtual bool hand_over(const object_id& place, link_number link) = 0;

  enum class adoption : std::uint8_t {
    done,   // The count in flight has become a hold of this process.
    absent, // Nothing is in flight.
    busy,   // The store could not be asked.
  };
  [[nodiscard]] virtual adoption adopt(const object_id& place, link_number link) = 0;
};

} // namespace troupe::internal::handles
