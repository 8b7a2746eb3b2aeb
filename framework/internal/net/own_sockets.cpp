#include <troupe/framework/internal/net/own_sockets.hpp>

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <vector>

#include <fcntl.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

namespace troupe::internal {

namespace {

/// A descriptor with the file that it stood for when it was opened, because its owner closes it and the number may be
/// used again.
struct own_socket {
  int descriptor;
  dev_t device;
  ino_t inode;

  [[nodiscard]] bool is_open() const {
    struct stat now {};
    return ::fstat(descriptor, &now) == 0 && now.st_dev == device && now.st_ino == inode;
  }
};

struct own_sockets {
  std::mutex mutex; // Held while a socket is opened, and while this process forks.
  std::vector<own_socket> all;
  std::size_t sweep_at = 64;
};

// Never destroyed, because nodes may outlive main.
own_sockets& sockets() {
  static auto* const kept = new own_sockets;
  return *kept;
}

void lock_sockets() {
  sockets().mutex.lock();
}

void unlock_sockets() {
  sockets().mutex.unlock();
}

/// Calls only async-signal-safe functions.
void close_sockets() {
  auto& mine = sockets();
  auto nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  const auto opened = nothing;
  for (const auto& each : mine.all) {
    if (!each.is_open())
      continue;
    if (nothing >= 0) {
      ::dup3(nothing, each.descriptor, O_CLOEXEC);
      continue;
    }
    ::close(each.descriptor); // No number was free for /dev/null.
    nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  }
  if (opened >= 0)
    ::close(opened);
  mine.all.clear();
  mine.mutex.unlock();
}

void watch_forks() {
  static const auto watching = ::pthread_atfork(lock_sockets, unlock_sockets, close_sockets);
  static_cast<void>(watching);
}

template <class Open>
int open_listed(Open open) {
  watch_forks();
  auto& mine = sockets();
  const std::lock_guard guard{mine.mutex};
  if (mine.all.size() >= mine.sweep_at) {
    std::erase_if(mine.all, [](const auto& each) { return !each.is_open(); });
    mine.sweep_at = std::max<std::size_t>(64, 2 * mine.all.size());
  }
  mine.all.reserve(std::max(mine.sweep_at, mine.all.size() + 1)); // Before the socket exists, so that no failure loses
                                                                  // it.
  const auto made = open();
  struct stat status {};
  if (made >= 0 && ::fstat(made, &status) == 0)
    mine.all.push_back({made, status.st_dev, status.st_ino});
  return made;
}

} // namespace

int make_own_socket(int domain, int type, int protocol) {
  return open_listed([&] { return ::socket(domain, type, protocol); });
}

int accept_own_socket(int listening) {
  return open_listed([&] { return ::accept4(listening, nullptr, nullptr, SOCK_CLOEXEC); });
}

bool make_own_socket_pair(int (&ends)[2]) {
  return open_listed([&] {
           const auto failed = ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0;
           return failed ? -1 : ends[0];
         })
         >= 0;
}

void adopt_own_socket(int socket) {
  ::fcntl(socket, F_SETFD, FD_CLOEXEC);
  static_cast<void>(open_listed([&] { return socket; }));
}

} // namespace troupe::internal
