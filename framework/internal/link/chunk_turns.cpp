#include <troupe/framework/internal/link/chunk_turns.hpp>

#include <troupe/framework/internal/link/departures.hpp>
#include <troupe/framework/internal/link/link_in_exchange.hpp>

namespace troupe::internal {

bool chunk_turns::append_next(const link_held& held, outbox& out) {
  objects_are_next_ = !objects_are_next_;
  if ((objects_are_next_ || messages_.empty(held)) && objects_.append_piece(held, out))
    return true;
  return messages_.append_next(held, out);
}

} // namespace troupe::internal
