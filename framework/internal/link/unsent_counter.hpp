// Who counts the messages of a link that were not sent.
#pragma once

#include <troupe/framework/node_errc.hpp>

namespace troupe::internal {

/// Counts messages that were not sent. Any thread.
class unsent_counter {
public:
  virtual ~unsent_counter() = default;

  /// For that reason. Also of a link that has ended, to which something here still sends.
  virtual void count_unsent(const node_error& reason) = 0;
};

} // namespace troupe::internal
