// Tells a process from the children that it forks.
#pragma once

#include <sys/types.h>
#include <unistd.h>

namespace troupe::cluster_directories {

/// Remembers the process that made it. In a forked child, threads of that process do not run, and its locks may be
/// taken for ever.
class opening_process {
public:
  [[nodiscard]] bool is_current() const noexcept { return ::getpid() == number_; }
  [[nodiscard]] pid_t number() const noexcept { return number_; }

private:
  pid_t number_ = ::getpid();
};

} // namespace troupe::cluster_directories
