// The terms of links, as a thread that sends over them finds them.
#pragma once

#include <array>
#include <atomic>
#include <memory>

#include <troupe/framework/internal/link/message_claims.hpp>
#include <troupe/framework/internal/link/sending_terms.hpp>

namespace troupe::internal {

/// Keeps the newest terms of the links that a thread sends over, so that their locks are not taken for each message.
///
/// Threads: one.
class terms_cache {
public:
  /// For one message. What they refer to stays until the next call. Where the message `is_waited_for`, the peer waits
  /// for it with its acknowledgement when it changes its lists meanwhile.
  const sending_terms& take(const newest_terms& of, message_claims& claims, bool is_waited_for);
  /// The same, for a message that is not waited for.
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

  std::array<place, 16> known_; // By link; the last one to come stays.
};

} // namespace troupe::internal
