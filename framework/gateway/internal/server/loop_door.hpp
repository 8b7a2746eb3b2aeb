// Lets other threads reach the connections while the gateway runs.
#pragma once

#include <mutex>
#include <shared_mutex>

namespace troupe::web {

/// Is open until the gateway ends. Actors may keep functions that refer to connections for longer.
///
/// Threads: any.
class loop_door {
public:
  /// Calls `action` unless the door is closed. While it runs, the door stays open, so it must not block. It may enter
  /// again: the lock prefers those who enter over the one who closes.
  template <class Action>
  void enter(Action&& action) {
    const std::shared_lock guard{mutex_};
    if (is_open_)
      action();
  }
  /// Waits for actions that are running.
  void close() {
    const std::unique_lock guard{mutex_};
    is_open_ = false;
  }

private:
  std::shared_mutex mutex_; // Guards the member below.
  bool is_open_ = true;
};

} // namespace troupe::web
