// What is half-way has to be made whole or given up whatever happens.
#pragma once

#include <troupe/store/store_error.hpp>

#include <expected>
#include <new>

namespace troupe::store::internal {

/// What `move` gives, or an error where it runs out of memory.
template <class Move>
[[nodiscard]] auto out_of_memory_is_failure(Move move) -> decltype(move()) {
  try {
    return move();
  } catch (const std::bad_alloc&) {
    return std::unexpected(store_error{store_errc::system_failure, "out of memory"}); // Short: needs no memory itself.
  }
}

} // namespace troupe::store::internal
