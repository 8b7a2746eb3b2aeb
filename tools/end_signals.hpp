// SIGINT and SIGTERM as input.
#pragma once

#include <csignal>

namespace troupe::tools {

/// Takes SIGINT and SIGTERM as input instead of ends. Threads that are started later have them blocked as well.
class end_signals {
public:
  /// Throws std::system_error if the system refuses.
  end_signals();
  end_signals(const end_signals&) = delete;
  end_signals& operator=(const end_signals&) = delete;
  ~end_signals();

  /// Becomes readable with the first signal.
  [[nodiscard]] int file() const noexcept { return file_; }
  /// Waits for a signal.
  void wait() const;

private:
  sigset_t before_{};
  int file_ = -1;
};

} // namespace troupe::tools
