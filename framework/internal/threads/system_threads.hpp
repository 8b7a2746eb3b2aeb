// Threads that an actor system waits for at its end.
#pragma once

#include <chrono>
#include <string>

namespace troupe::internal {

/// Threads that use an actor system.
class system_threads {
public:
  virtual ~system_threads() = default;
  /// Waits until they have nothing more to do, and joins them. False when they still have after `patience`. From any
  /// thread but those.
  [[nodiscard]] virtual bool join_within(std::chrono::milliseconds patience) = 0;
  /// Whether their owner has left them to the system.
  [[nodiscard]] virtual bool is_left() const noexcept = 0;
  /// The name of the node that they belong to.
  [[nodiscard]] virtual const std::string& owner() const noexcept = 0;
};

} // namespace troupe::internal
