// Counts the messages of a link that were not sent.
#pragma once

#include <troupe/framework/node_errc.hpp>

namespace troupe::internal {

/// Counts messages that were not sent. Threads: any.
class unsent_counter {
public:
  virtual ~unsent_counter() = default;

  /// Counts a message by its reason. May be called after the link has ended, if actors still send to it.
  virtual void count_unsent(const node_error& reason) = 0;
};

} // namespace troupe::internal
