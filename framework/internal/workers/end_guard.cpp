#include <troupe/framework/internal/workers/end_guard.hpp>

#include <array>
#include <csignal>
#include <cstdint>
#include <string>
#include <utility>

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <troupe/framework/internal/threads/new_thread.hpp>
#include <troupe/framework/internal/words/log.hpp>

namespace troupe::internal {

std::expected<std::unique_ptr<end_guard>, node_error> end_guard::make(std::chrono::milliseconds patience) {
  std::unique_ptr<end_guard> made{new end_guard{patience}};
  auto thread = new_thread("a worker needs a thread that watches its parent", [guard = made.get()] { guard->run(); });
  if (!thread)
    return std::unexpected{std::move(thread).error()};
  made->thread_ = *std::move(thread);
  // A parent that has ended meanwhile is noticed by its descriptor. A process that is stopped when its parent ends must
  // run again in order to end.
  if (made->parent_ >= 0 && made->wake_ >= 0)
    ::prctl(PR_SET_PDEATHSIG, SIGCONT);
  return made;
}

end_guard::end_guard(std::chrono::milliseconds patience)
    : patience_(patience),
      parent_(static_cast<int>(::syscall(SYS_pidfd_open, ::getppid(), 0))),
      wake_(::eventfd(0, EFD_CLOEXEC)) {}

end_guard::~end_guard() {
  std::unique_lock guard{mutex_};
  is_off_ = true;
  guard.unlock();
  changed_.notify_all();
  start();
  if (thread_.joinable())
    thread_.join();
  for (const auto each : {parent_, wake_})
    if (each >= 0)
      ::close(each);
}

void end_guard::start() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(wake_, &one, sizeof one);
}

void end_guard::run() {
  wait_for_start();
  std::unique_lock guard{mutex_};
  if (changed_.wait_for(guard, patience_, [this] { return is_off_; }))
    return;
  write_log(log_level::warning, "this worker still ran " + std::to_string(patience_.count())
                                    + " ms after its link or its parent had ended (end_timeout); it ends now");
  ::_exit(1);
}

void end_guard::wait_for_start() const {
  std::array<pollfd, 2> waited_for{pollfd{.fd = parent_, .events = POLLIN, .revents = 0},
                                   pollfd{.fd = wake_, .events = POLLIN, .revents = 0}};
  while (::poll(waited_for.data(), waited_for.size(), -1) < 0) // Interrupted by a signal.
    continue;
}

} // namespace troupe::internal
