#include <troupe/framework/internal/handles/mark_book.hpp>

#include <bit>
#include <limits>

namespace troupe::internal::handles {

void mark_book::leave(reference what, entry_trail& trail, handle_descriptor& handle) {
  handle.hops = trail.hops < std::numeric_limits<std::uint32_t>::max() ? trail.hops + 1 : trail.hops;
  handle.mark = trail.mark;
  if (trail.mark != 0 && !std::has_single_bit(handle.hops))
    return;
  while (trail.own_mark == 0)
    if (auto fresh = fresh_token_(); fresh != 0 && left_.emplace(fresh, what).second)
      trail.own_mark = fresh;
  handle.mark = trail.own_mark;
}

std::optional<reference> mark_book::find(std::uint64_t mark) const {
  const auto known = left_.find(mark);
  return known != left_.end() ? std::optional{known->second} : std::nullopt;
}

} // namespace troupe::internal::handles
