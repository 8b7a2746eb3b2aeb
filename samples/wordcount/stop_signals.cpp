#include "stop_signals.hpp"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace wordcount {

namespace {

/// Wakes the watching thread so that it ends.
constexpr auto wake_signal = SIGUSR1;

// For the signal handler: a flag whether there is a file, followed by its path.
char file_to_remove[4098];

/// Calls only async-signal-safe functions.
void end_by_signal(int signal) {
  if (file_to_remove[0] != '\0')
    ::unlink(file_to_remove + 1);
  ::_exit(128 + signal); // As shells report it.
}

bool is_ignored(int signal) {
  struct sigaction current {};
  return ::sigaction(signal, nullptr, &current) == 0 && current.sa_handler == SIG_IGN;
}

} // namespace

stop_signals::stop_signals() {
  ::sigemptyset(&waited_for_);
  for (const auto signal : {SIGINT, SIGTERM, SIGQUIT, wake_signal})
    ::sigaddset(&waited_for_, signal);
  if (!is_ignored(SIGHUP)) // It is ignored under nohup.
    ::sigaddset(&waited_for_, SIGHUP);
  ::pthread_sigmask(SIG_BLOCK, &waited_for_, nullptr);
}

void stop_signals::end_process() const {
  for (const auto signal : {SIGINT, SIGTERM, SIGQUIT, SIGHUP})
    if (::sigismember(&waited_for_, signal) == 1)
      std::signal(signal, end_by_signal);
  ::pthread_sigmask(SIG_UNBLOCK, &waited_for_, nullptr);
}

void stop_signals::remove_when_ended(const std::string& path) {
  file_to_remove[0] = '\0'; // A signal in between finds no file or the whole path.
  if (path.size() >= std::size(file_to_remove))
    return;
  std::copy(path.begin(), path.end() + 1, file_to_remove + 1);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  file_to_remove[0] = path.empty() ? '\0' : '\1';
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
