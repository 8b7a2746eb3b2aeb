#include "end_signals.hpp"

#include <cerrno>
#include <system_error>

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

namespace troupe::tools {

end_signals::end_signals() {
  sigset_t taken;
  sigemptyset(&taken);
  sigaddset(&taken, SIGINT);
  sigaddset(&taken, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &taken, &before_);
  file_ = ::signalfd(-1, &taken, SFD_CLOEXEC | SFD_NONBLOCK);
  if (file_ < 0)
    throw std::system_error{errno, std::system_category(), "signalfd"};
}

end_signals::~end_signals() {
  signalfd_siginfo one{};
  while (::read(file_, &one, sizeof one) > 0) { // Otherwise it would end the process when it is unblocked.
  }
  ::close(file_);
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

void end_signals::wait() const {
  pollfd ready{file_, POLLIN, 0};
  while (::poll(&ready, 1, -1) < 0 && errno == EINTR) {
  }
}

} // namespace troupe::tools
