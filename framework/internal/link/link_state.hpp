// The states of a link and the only steps between them.
#pragma once

#include <cstdint>

namespace troupe::internal {

//  greeting --both hellos accepted--> open --close()--> closing --written out--> closed
//  Any state goes to closed on an error. A link is used once: connecting again makes a new link.
enum class link_state : std::uint8_t { greeting, open, closing, closed };

constexpr bool may_follow(link_state from, link_state to) {
  using enum link_state;
  if (to == closed)
    return from != closed;
  return (from == greeting && to == open) || (from == greeting && to == closing) || (from == open && to == closing);
}
static_assert(!may_follow(link_state::closing, link_state::open));
static_assert(!may_follow(link_state::closed, link_state::closed));

} // namespace troupe::internal
