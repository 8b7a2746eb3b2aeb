// Lets other threads reach the connections while the gateway runs.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <utility>

#include <troupe/framework/gateway/internal/server/boost_net.hpp>

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

/// A function for any thread, which has `action` called with the session, by the session's executor. It does nothing
/// once the session is gone or the gateway has ended.
template <class Session, class Action>
[[nodiscard]] std::function<void()> told_action(std::shared_ptr<loop_door> door, std::weak_ptr<Session> to,
                                                Action action) {
  return [door = std::move(door), to = std::move(to), action = std::move(action)] {
    door->enter([&] {
      if (auto session = to.lock()) {
        auto executor = session->executor();
        net::post(executor, [session = std::move(session), action] { action(*session); });
      }
    });
  };
}

} // namespace troupe::web
