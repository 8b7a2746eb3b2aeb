// Makes Control-C and similar signals visible to code that waits.
#pragma once

namespace bench {

/// The constructor makes SIGINT, SIGTERM and SIGHUP (unless SIGHUP is ignored) no longer end the process: they make
/// `fd` readable instead. Construct it before all other threads start.
class stop_signals {
public:
  stop_signals();
  stop_signals(const stop_signals&) = delete;
  stop_signals& operator=(const stop_signals&) = delete;
  ~stop_signals();

  /// For polling together with other descriptors.
  [[nodiscard]] int fd() const { return fd_; }

  /// The signal that came first, or 0.
  [[nodiscard]] int came();

private:
  int fd_ = -1;
  int came_ = 0;
};

} // namespace bench
