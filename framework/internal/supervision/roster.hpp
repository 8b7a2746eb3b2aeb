// The children of a supervisor, as other threads see them.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <troupe/framework/internal/caf_port/event_actors.hpp>
#include <troupe/framework/internal/supervision/restart_rules.hpp>
#include <troupe/framework/node_errc.hpp>

namespace troupe::internal {

struct roster_entry {
  std::string name;
  /// The name that all copies of a child share.
  std::string group;
  /// Null unless the child is running, and has an actor.
  caf::actor handle = {};
  bool is_running = false;
  std::size_t starts = 0;
  child_state state = child_state::waiting;
  /// The id of the process, if the child is one that is running; otherwise 0.
  std::uint32_t process = 0;
  /// Since when the child is running, or not.
  std::chrono::steady_clock::time_point since = std::chrono::steady_clock::now();
  /// Why the last run ended.
  node_error last_reason = {node_errc::none, {}};
};

/// Tells other threads about the children of one supervisor.
///
/// Threads: any. Only the supervisor makes changes.
class roster {
public:
  struct state {
    std::uint64_t version = 0; // Rises with each change.
    std::vector<roster_entry> children;
    std::optional<node_error> end; // Set once the supervisor has ended.
  };
  /// Called after each change, without a lock. Returns false if it need not be called any more.
  using listener = std::function<bool()>;

  explicit roster(std::vector<roster_entry> children);

  [[nodiscard]] state now() const;

  /// `process`: its id, if it is one.
  void started(std::size_t child, caf::actor handle, std::uint32_t process);
  /// The child is about to end. Without effect if it is not running.
  void leaves(std::size_t child);
  void ended(std::size_t child, node_error reason);
  /// Sets each child's state. This is for people: listeners are not called.
  void note_states(const std::function<child_state(std::size_t child)>& state_of);
  /// The supervisor has ended; later calls have no effect.
  void over(node_error reason);

  /// The listener is called for all changes after this call.
  void add(listener which);

private:
  void change(const std::function<bool(state&)>& how);

  mutable std::mutex mutex_;
  // Guarded by mutex_.
  state state_;
  std::vector<std::shared_ptr<const listener>> listeners_;
};

} // namespace troupe::internal
