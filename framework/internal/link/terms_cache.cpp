#include <troupe/framework/internal/link/terms_cache.hpp>

#include <utility>

namespace troupe::internal {

/// Mostly they are known, and those of the message before.
const sending_terms& terms_cache::take(const newest_terms& of, message_claims& claims, bool is_waited_for) {
  auto& known = known_[of.link % known_.size()];
  if (is_waited_for || !known || known->number != of.number.load(std::memory_order_acquire)) {
    auto older = std::move(known); // Ends outside of the lock.
    const auto held = of.mutex.lock();
    known = of.terms;
    if (is_waited_for)
      claims.epoch(held, known->peer_epoch);
  }
  return *known;
}

} // namespace troupe::internal
