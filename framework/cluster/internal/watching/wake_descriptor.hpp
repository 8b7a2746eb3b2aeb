// A descriptor by which one thread wakes another one that waits in poll().
#pragma once

#include <sys/eventfd.h>
#include <unistd.h>

namespace troupe::cluster_directories {

/// Threads: any.
class wake_descriptor {
public:
  wake_descriptor() : number_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}
  wake_descriptor(const wake_descriptor&) = delete;
  wake_descriptor& operator=(const wake_descriptor&) = delete;
  ~wake_descriptor() {
    if (is_open())
      ::close(number_);
  }

  /// False if the process had too many descriptors open.
  [[nodiscard]] bool is_open() const noexcept { return number_ >= 0; }
  /// Readable from wake() until clear().
  [[nodiscard]] int number() const noexcept { return number_; }

  void wake() const noexcept { static_cast<void>(::eventfd_write(number_, 1)); }
  void clear() const noexcept {
    eventfd_t count = 0;
    static_cast<void>(::eventfd_read(number_, &count));
  }

private:
  const int number_;
};

} // namespace troupe::cluster_directories
