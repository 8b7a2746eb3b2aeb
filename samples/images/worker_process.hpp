// A copy of this program, started as a worker.
#pragma once

#include <string>

#include <sys/types.h>

namespace images {

class worker_process {
public:
  /// Starts a worker for the coordinator at `address`. Throws std::runtime_error.
  explicit worker_process(const std::string& address);
  worker_process(const worker_process&) = delete;
  worker_process& operator=(const worker_process&) = delete;
  /// Waits until the process ends. A worker ends when its link has ended. Kills the process after ten seconds.
  ~worker_process();

private:
  pid_t process_ = 0;
};

} // namespace images
