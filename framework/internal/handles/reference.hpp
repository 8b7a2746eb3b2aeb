// How users of a ledger name what is in it.
#pragma once

#include <compare>
#include <cstdint>

namespace troupe::internal::handles {

/// Chosen by who waits; means nothing to the ledger.
using waiter_id = std::uint64_t;

/// Names an entry of a node's ledger; an entry's number is used again with the next generation.
struct reference {
  std::uint32_t index = 0;
  std::uint32_t generation = 0; // 0: refers to nothing.

  friend auto operator<=>(const reference&, const reference&) = default;
};

/// Names one attempt to make a replica. Never used again.
using room_id = std::uint64_t;

} // namespace troupe::internal::handles
