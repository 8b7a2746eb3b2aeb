#include "harness/stop_signals.hpp"

#include <csignal>
#include <initializer_list>

#include <sys/signalfd.h>
#include <unistd.h>

namespace bench {

stop_signals::stop_signals() {
  sigset_t awaited;
  ::sigemptyset(&awaited);
  for (const auto signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction current {};
    const auto is_ignored = ::sigaction(signal, nullptr, &current) == 0 && current.sa_handler == SIG_IGN;
    if (signal != SIGHUP || !is_ignored) // Under nohup, SIGHUP stays ignored.
      ::sigaddset(&awaited, signal);
  }
  ::sigprocmask(SIG_BLOCK, &awaited, nullptr);
  fd_ = ::signalfd(-1, &awaited, SFD_CLOEXEC | SFD_NONBLOCK);
}

stop_signals::~stop_signals() {
  ::close(fd_);
}

int stop_signals::came() {
  signalfd_siginfo signal{};
  if (came_ == 0 && ::read(fd_, &signal, sizeof signal) == sizeof signal)
    came_ = static_cast<int>(signal.ssi_signo);
  return came_;
}

} // namespace bench
