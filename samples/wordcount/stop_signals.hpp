// Control-C and its like as ordinary calls.
#pragma once

#include <csignal>

#include <atomic>
#include <functional>
#include <string>
#include <thread>

namespace wordcount {

/// From its construction on, SIGINT, SIGTERM, SIGQUIT and SIGHUP do not end the process but wait to be looked at.
/// Construct it before all other threads, since they inherit what is blocked.
class stop_signals {
public:
  stop_signals();

  /// From now on such a signal, also one that came before, ends the process with status 128 + signal at once, whatever
  /// it waits for. For when there is nothing to clear up but the file that is being written. Requires: no other
  /// threads.
  void end_process() const;

  /// Names a file that shall not stay when the process is ended so; an empty path: none.
  static void remove_when_ended(const std::string& path);

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
