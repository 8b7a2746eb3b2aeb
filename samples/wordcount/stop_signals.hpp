// Control-C and its like as ordinary calls.
#pragma once

#include <csignal>

#include <atomic>
#include <functional>
#include <thread>

namespace wordcount {

/// From its construction on, SIGINT, SIGTERM and SIGHUP do not end the process but wait to be looked at. Construct it
/// before all other threads, since they inherit what is blocked.
class stop_signals {
public:
  stop_signals();

  /// One that has come and was not taken by a signal_watch; 0: none.
  [[nodiscard]] int pending() const;

private:
  friend class signal_watch;
  sigset_t waited_for_;
};

/// Calls `report`, on a thread of its own, for each stop signal, also one that came before.
class signal_watch {
public:
  signal_watch(const stop_signals& signals, std::function<void(int signal)> report);
  signal_watch(const signal_watch&) = delete;
  signal_watch& operator=(const signal_watch&) = delete;
  ~signal_watch();

private:
  std::atomic<bool> ending_ = false;
  std::thread watcher_;
};

} // namespace wordcount
