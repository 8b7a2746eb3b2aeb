// Figures that a link counts after it has ended.
#pragma once

#include <troupe/framework/link_stats.hpp>

namespace troupe::internal {

/// Receives the figures that links count after they have ended. Threads: any.
class late_figures {
public:
  virtual ~late_figures() = default;
  virtual void note_late(const link_stats& more) = 0;
};

} // namespace troupe::internal
