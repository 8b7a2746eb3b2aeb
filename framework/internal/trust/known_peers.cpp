#include <troupe/framework/internal/trust/known_peers.hpp>

#include <cassert>

#include <troupe/framework/internal/trust/authentication.hpp>

namespace troupe::internal {

bool known_peers::enter(std::string_view id, bytes_view token) {
  std::lock_guard guard{mutex_};
  auto [place, is_new] = peers_.try_emplace(std::string{id});
  auto& known = place->second;
  if (is_new)
    known.token.assign(token.begin(), token.end());
  else if (!same_digest(known.token, token))
    return false;
  ++known.links;
  return true;
}

void known_peers::leave(std::string_view id) {
  std::lock_guard guard{mutex_};
  auto found = peers_.find(id);
  assert(found != peers_.end());
  if (--found->second.links == 0)
    peers_.erase(found);
}

} // namespace troupe::internal
