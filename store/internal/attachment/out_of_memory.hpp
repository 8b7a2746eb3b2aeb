// Turns a lack of memory into an error, for work that must be completed or given up in any case.
#pragma once

#include <troupe/store/store_error.hpp>

#include <expected>
#include <new>

namespace troupe::store::internal {

/// Returns the result of `move`, or an error if it runs out of memory.
template <class Move>
[[nodiscard]] auto out_of_memory_is_failure(Move move) -> decltype(move()) {
  try {
    return move();
  } catch (const std::bad_alloc&) {
    return std::unexpected(store_error{store_errc::system_failure, "out of memory"}); // Too short for an allocation.
  }
}

} // namespace troupe::store::internal
