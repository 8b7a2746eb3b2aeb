// Tells the peer that a change of the peer's lists has taken effect at this end.
#pragma once

#include <troupe/framework/internal/net/link_mutex.hpp>

namespace troupe::internal {

class outbox;

/// Acknowledges the peer's changes.
class change_acknowledger {
public:
  virtual ~change_acknowledger() = default;

  /// Sends the acknowledgment once no message that was encoded with older lists can follow. Appends it to `out`, which
  /// the caller flushes. If `out` is null, sends it over the link.
  virtual void acknowledge_if_due(const link_held& held, outbox* out) = 0;
};

} // namespace troupe::internal
