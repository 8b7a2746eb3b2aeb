// Counters that a link increases after it has ended.
#pragma once

#include <troupe/framework/link_stats.hpp>

namespace troupe::internal {

/// Receives what links count after they have ended. Threads: any.
class late_figures {
public:
  virtual ~late_figures() = default;
  virtual void note_late(const link_stats& more) = 0;
};

} // namespace troupe::internal
