// Turns Control-C and similar signals into ordinary calls.
#pragma once

#include <csignal>

#include <atomic>
#include <functional>
#include <string>
#include <thread>

namespace wordcount {

/// The constructor makes SIGINT, SIGTERM, SIGQUIT and SIGHUP stay pending instead of ending the process. Construct it
/// before all other threads start, because they inherit the signal mask.
class stop_signals {
public:
  stop_signals();

  /// From now on, such a signal, even a pending one, ends the process at once with status 128 + signal, even while the
  /// process waits. Call this once the only thing to clean up is the file being written. Requires: no other threads.
  void end_process() const;

  /// Names a file that the process removes if a signal ends it. An empty path means none.
  static void remove_when_ended(const std::string& path);

private:
  friend class signal_watch;
  sigset_t waited_for_;
};

/// Calls `report` on its own thread for each stop signal, including those already pending.
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
