// Threads that an actor system waits for at its end.
#pragma once

#include <chrono>
#include <string>

namespace troupe::internal {

/// Threads that use an actor system.
class system_threads {
public:
  virtual ~system_threads() = default;
  /// Waits until the threads have finished, and joins them. Returns false if they have not finished after `patience`.
  /// Threads: any thread except these.
  [[nodiscard]] virtual bool join_within(std::chrono::milliseconds patience) = 0;
  /// Whether the owner has left the threads to the actor system.
  [[nodiscard]] virtual bool is_left() const noexcept = 0;
  /// The name of the owning node.
  [[nodiscard]] virtual const std::string& owner() const noexcept = 0;
};

} // namespace troupe::internal
