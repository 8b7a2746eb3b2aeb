#include <troupe/framework/cluster/internal/host/bell.hpp>

#include <array>
#include <cstdint>

#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

namespace troupe::cluster_directories {

void ring_bell(const std::string& path) noexcept {
  ::utimensat(AT_FDCWD, path.c_str(), nullptr, AT_SYMLINK_NOFOLLOW);
}

bell_ear::bell_ear(const std::string& path) : inotify_(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) {
  constexpr std::uint32_t times_or_removal = IN_ATTRIB | IN_MOVE_SELF | IN_DELETE_SELF;
  if (inotify_ >= 0 && ::inotify_add_watch(inotify_, path.c_str(), times_or_removal) < 0) {
    ::close(inotify_);
    inotify_ = -1;
  }
}

bell_ear::~bell_ear() {
  if (inotify_ >= 0)
    ::close(inotify_);
}

void bell_ear::clear() const {
  std::array<char, 4096> events;
  while (::read(inotify_, events.data(), events.size()) > 0)
    ;
}

} // namespace troupe::cluster_directories
