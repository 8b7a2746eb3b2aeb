// A copy of this program, started to work.
#pragma once

#include <string>

#include <sys/types.h>

namespace images {

class worker_process {
public:
  /// Throws std::runtime_error.
  explicit worker_process(const std::string& address);
  worker_process(const worker_process&) = delete;
  worker_process& operator=(const worker_process&) = delete;
  /// Waits for its end, which comes with that of its link. After ten seconds it is killed.
  ~worker_process();

private:
  pid_t process_ = 0;
};

} // namespace images
