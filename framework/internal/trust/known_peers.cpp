#include <troupe/framework/internal/trust/known_peers.hpp>

#include <cassert>

#include <troupe/framework/internal/trust/authentication.hpp>

namespace troupe::internal {

bool known_peers::enter(const caf::node_id& id, bytes_view token) {
  auto [place, is_new] = peers_.try_emplace(id);
  auto& known = place->second;
  if (is_new)
    known.token.assign(token.begin(), token.end());
  else if (!same_digest(known.token, token))
    return false;
  ++known.links;
  return true;
}

void known_peers::leave(const caf::node_id& id) {
  auto found = peers_.find(id);
  assert(found != peers_.end());
  if (--found->second.links == 0)
    peers_.erase(found);
}

} // namespace troupe::internal
