// The terms of the links over which a thread sends.
#pragma once

#include <array>
#include <atomic>
#include <memory>

#include <troupe/framework/internal/link/message_claims.hpp>
#include <troupe/framework/internal/link/sending_terms.hpp>

namespace troupe::internal {

/// Caches the newest terms of the links over which a thread sends, so that a message need not take the link's lock.
///
/// Threads: one.
class terms_cache {
public:
  /// Returns the terms for one message. The reference is valid until the next call. `is_waited_for`: if the peer
  /// changes its lists meanwhile, this end acknowledges that only after the message.
  const sending_terms& take(const newest_terms& of, message_claims& claims, bool is_waited_for);
  /// As above, with `is_waited_for` false.
  const sending_terms& take(const newest_terms& of) {
    auto& known = place_of(of);
    if (!known || known->number != of.number.load(std::memory_order_acquire))
      renew(known, of);
    return *known;
  }

private:
  using place = std::shared_ptr<const sending_terms>;

  [[nodiscard]] place& place_of(const newest_terms& of) { return known_[of.link % known_.size()]; }
  static void renew(place& known, const newest_terms& of);

  std::array<place, 16> known_; // By link; a new entry replaces the old one.
};

} // namespace troupe::internal
