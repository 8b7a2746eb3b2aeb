// Control-C and its like, as something that waits can look at.
#pragma once

namespace bench {

/// From its construction on, SIGINT, SIGTERM and SIGHUP (unless it is ignored) do not end the process: they make `fd`
/// readable. Construct it before all threads.
class stop_signals {
public:
  stop_signals();
  stop_signals(const stop_signals&) = delete;
  stop_signals& operator=(const stop_signals&) = delete;
  ~stop_signals();

  /// To be polled together with what is waited for.
  [[nodiscard]] int fd() const { return fd_; }

  /// The signal that came first; 0: none yet.
  [[nodiscard]] int came();

private:
  int fd_ = -1;
  int came_ = 0;
};

} // namespace bench
