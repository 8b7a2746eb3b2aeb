// Recognizes this node's own actors when other nodes send them back.
#pragma once

#include <troupe/framework/internal/caf_port/actor_pointers.hpp>

namespace troupe::internal {

struct introduce;

/// Recognizes this node's own actors. Threads: any.
class actor_recognition {
public:
  virtual ~actor_recognition() = default;

  /// Returns the actor if the introduction proves that one of this node's links has given it to the peer; else null.
  [[nodiscard]] virtual caf::strong_actor_ptr recognize(const introduce& what) const = 0;
};

} // namespace troupe::internal
