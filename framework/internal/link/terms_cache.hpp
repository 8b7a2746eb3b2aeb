// The terms of links, as a thread that sends over them finds them.
#pragma once

#include <array>
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

private:
  std::array<std::shared_ptr<const sending_terms>, 16> known_; // By link; the last one to come stays.
};

} // namespace troupe::internal
