#include <troupe/framework/internal/workers/end_guard.hpp>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <string>
#include <system_error>
#include <utility>

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <troupe/base/longest_wait.hpp>
#include <troupe/base/sizes.hpp>
#include <troupe/framework/internal/threads/new_thread.hpp>
#include <troupe/framework/internal/words/failing.hpp>

namespace troupe::internal {

namespace {

constexpr int status_of_orphan = 1;

/// Writes to the standard error stream, unless its reader is slow. Not through the program's log, which may hang as the
/// rest of the program does.
void write_last_words(const std::string& line) {
  constexpr int patience_ms = 100;
  pollfd stream{.fd = STDERR_FILENO, .events = POLLOUT, .revents = 0};
  if (::poll(&stream, 1, patience_ms) <= 0 || stream.revents != POLLOUT)
    return;
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
}

} // namespace

std::expected<std::unique_ptr<end_guard>, node_error> end_guard::make(std::chrono::milliseconds patience) {
  if (patience.count() < 0)
    return bad_option("worker_setup::end_timeout of " + std::to_string(patience.count()) + " ms is negative");
  std::unique_ptr<end_guard> made{new end_guard{bounded_wait(patience)}};
  if (made->wake_ < 0)
    return fail(node_errc::unsupported,
                "a worker needs a descriptor that wakes the thread that watches its parent, but "
                "the system provides none: "
                    + std::generic_category().message(errno));
  auto thread = new_thread("a worker needs a thread that watches its parent", [guard = made.get()] { guard->run(); });
  if (!thread)
    return std::unexpected{std::move(thread).error()};
  made->thread_ = *std::move(thread);
  // A parent that has ended meanwhile is noticed by its descriptor. A process that is stopped when its parent ends must
  // run again in order to end.
  made->replaces_signal_ = made->parent_ >= 0 && ::prctl(PR_SET_PDEATHSIG, SIGCONT) == 0;
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
  if (replaces_signal_)
    restore_signal();
  for (const auto each : {parent_, wake_})
    if (each >= 0)
      ::close(each);
}

/// Guards the rest of `main`, and the destructors of global objects.
void end_guard::restore_signal() const {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  pollfd parent{.fd = parent_, .events = POLLIN, .revents = 0};
  if (::poll(&parent, 1, 0) > 0) // The parent ended before the prctl() call.
    ::_exit(status_of_orphan);
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
  write_last_words("this worker still ran " + grouped(static_cast<std::uint64_t>(patience_.count()))
                   + " ms after its link or its parent had ended (end_timeout); it ends now\n");
  ::_exit(status_of_orphan);
}

void end_guard::wait_for_start() const {
  std::array<pollfd, 2> waited_for{pollfd{.fd = parent_, .events = POLLIN, .revents = 0},
                                   pollfd{.fd = wake_, .events = POLLIN, .revents = 0}};
  while (::poll(waited_for.data(), waited_for.size(), -1) < 0) // Interrupted by a signal.
    continue;
}

} // namespace troupe::internal
