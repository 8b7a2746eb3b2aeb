// How the peer is told that a change of its lists has taken effect here.
#pragma once

#include <troupe/framework/internal/net/link_mutex.hpp>

namespace troupe::internal {

class outbox;

/// Acknowledges the peer's changes.
class change_acknowledger {
public:
  virtual ~change_acknowledger() = default;

  /// Once nothing that was encoded by older lists can follow: in that outbox, which is flushed by the caller, or where
  /// it is null in the link's.
  virtual void acknowledge_if_due(const link_held& held, outbox* out) = 0;
};

} // namespace troupe::internal
