// What links count when nobody asks them any more.
#pragma once

#include <troupe/framework/link_stats.hpp>

namespace troupe::internal {

/// Takes what links count after they have ended. Any thread.
class late_figures {
public:
  virtual ~late_figures() = default;
  virtual void note_late(const link_stats& more) = 0;
};

} // namespace troupe::internal
