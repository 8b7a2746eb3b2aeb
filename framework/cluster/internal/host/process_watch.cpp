#include <troupe/framework/cluster/internal/host/process_watch.hpp>

#include <algorithm>
#include <cerrno>

#include <poll.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace troupe::cluster_directories {

namespace {

int open_pidfd(std::uint64_t number) {
  return static_cast<int>(::syscall(SYS_pidfd_open, static_cast<pid_t>(number), 0U));
}

bool is_readable(int descriptor) {
  pollfd one{.fd = descriptor, .events = POLLIN, .revents = 0};
  return ::poll(&one, 1, 0) == 1 && (one.revents & POLLIN) != 0;
}

} // namespace

process_watch::process_watch(process_identity self) : self_(self), epoll_(::epoll_create1(EPOLL_CLOEXEC)) {}

process_watch::~process_watch() {
  for (auto& [process, one] : followed_)
    drop(one);
  if (epoll_ >= 0)
    ::close(epoll_);
}

void process_watch::drop(followed& one) const {
  if (one.descriptor >= 0)
    ::close(one.descriptor); // Removes it from epoll as well, because it has no copy.
  one.descriptor = -1;
}

process_watch::followed process_watch::follow(const process_identity& process) const {
  followed one{.descriptor = open_pidfd(process.number)};
  if (one.descriptor < 0) {
    one.has_ended = errno == ESRCH || has_ended(process, state_of_process(process.number));
    return one;
  }
  // Compares the start after the pidfd was opened, so that it is known to be this process's.
  if (has_ended(process, state_of_process(process.number))) {
    drop(one);
    one.has_ended = true;
    return one;
  }
  epoll_event event{.events = EPOLLIN, .data = {.fd = one.descriptor}};
  if (::epoll_ctl(epoll_, EPOLL_CTL_ADD, one.descriptor, &event) != 0)
    drop(one); // Then it is looked for in /proc.
  return one;
}

void process_watch::look(const process_identity& process, followed& one) const {
  if (one.has_ended)
    return;
  one.has_ended =
      one.descriptor >= 0 ? is_readable(one.descriptor) : has_ended(process, state_of_process(process.number));
  if (one.has_ended)
    drop(one);
}

std::vector<process_identity> process_watch::ended_of(std::span<const process_identity> processes) {
  const std::lock_guard guard{mutex_};
  std::vector<process_identity> ended;
  std::map<process_identity, followed> still;
  for (const auto& process : processes) {
    if (process.pid_namespace == 0 || process.pid_namespace != self_.pid_namespace || process == self_
        || still.contains(process))
      continue;
    auto node = followed_.extract(process);
    auto one = node.empty() ? follow(process) : node.mapped();
    look(process, one);
    if (one.has_ended)
      ended.push_back(process);
    still.emplace(process, one);
  }
  for (auto& [process, one] : followed_)
    drop(one);
  followed_ = std::move(still);
  return ended;
}

} // namespace troupe::cluster_directories
