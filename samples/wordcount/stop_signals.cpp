#include "stop_signals.hpp"

#include <pthread.h>

#include <utility>

namespace wordcount {

namespace {

/// Wakes the watching thread when it shall end.
constexpr auto wake_signal = SIGUSR1;

bool is_ignored(int signal) {
  struct sigaction current {};
  return ::sigaction(signal, nullptr, &current) == 0 && current.sa_handler == SIG_IGN;
}

} // namespace

stop_signals::stop_signals() {
  ::sigemptyset(&waited_for_);
  for (const auto signal : {SIGINT, SIGTERM, wake_signal})
    ::sigaddset(&waited_for_, signal);
  if (!is_ignored(SIGHUP)) // Under nohup it is.
    ::sigaddset(&waited_for_, SIGHUP);
  ::pthread_sigmask(SIG_BLOCK, &waited_for_, nullptr);
}

int stop_signals::pending() const {
  sigset_t came;
  ::sigpending(&came);
  for (const auto signal : {SIGINT, SIGTERM, SIGHUP})
    if (::sigismember(&came, signal) == 1 && ::sigismember(&waited_for_, signal) == 1)
      return signal;
  return 0;
}

signal_watch::signal_watch(const stop_signals& signals, std::function<void(int signal)> report) {
  watcher_ = std::thread{[this, report = std::move(report), waited_for = signals.waited_for_] {
    for (int signal = 0; !ending_;)
      if (::sigwait(&waited_for, &signal) == 0 && signal != wake_signal)
        report(signal);
  }};
}

signal_watch::~signal_watch() {
  ending_ = true;
  ::pthread_kill(watcher_.native_handle(), wake_signal);
  watcher_.join();
}

} // namespace wordcount
