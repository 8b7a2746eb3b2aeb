// Names for entries of a ledger, as its users keep them.
#pragma once

#include <compare>
#include <cstdint>

namespace troupe::internal::handles {

/// Chosen by the caller that waits; opaque to the ledger.
using waiter_id = std::uint64_t;

/// Names an entry of a node's ledger. An entry's index is reused with the next generation.
struct reference {
  std::uint32_t index = 0;
  std::uint32_t generation = 0; // 0: refers to nothing.

  friend auto operator<=>(const reference&, const reference&) = default;
};

/// Names one attempt to make a replica. Never reused.
using room_id = std::uint64_t;

} // namespace troupe::internal::handles
