#include <troupe/framework/internal/link/terms_cache.hpp>

#include <utility>

namespace troupe::internal {

/// In most cases the terms are cached, and are those of the message before.
const sending_terms& terms_cache::take(const newest_terms& of, message_claims& claims, bool is_waited_for) {
  if (!is_waited_for)
    return take(of);
  auto& known = place_of(of);
  auto older = std::move(known); // Released outside the lock.
  const auto held = of.mutex.lock();
  known = of.terms;
  claims.epoch(held, known->peer_epoch);
  return *known;
}

void terms_cache::renew(place& known, const newest_terms& of) {
  auto older = std::move(known); // Released outside the lock.
  const auto held = of.mutex.lock();
  known = of.terms;
}

} // namespace troupe::internal
