// Actors of this node that come home by way of others.
#pragma once

#include <troupe/framework/internal/caf_port/actor_pointers.hpp>

namespace troupe::internal {

struct introduce;

/// Knows this node's own actors again. Any thread.
class actor_recognition {
public:
  virtual ~actor_recognition() = default;

  /// The actor, where the introduction proves that one of this node's links has given it to the peer; else null.
  [[nodiscard]] virtual caf::strong_actor_ptr recognize(const introduce& what) const = 0;
};

} // namespace troupe::internal
