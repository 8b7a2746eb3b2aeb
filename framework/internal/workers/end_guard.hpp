// The end of a worker whose link or parent is gone.
#pragma once

#include <chrono>
#include <condition_variable>
#include <expected>
#include <memory>
#include <mutex>
#include <thread>

#include <troupe/framework/node_errc.hpp>

namespace troupe::internal {

/// Ends this process if it takes too long to end by itself, counted from the end of its link or of its parent.
///
/// As long as it lives, it replaces the signal by which the kernel kills this process together with its parent by one that
/// only lets a stopped process run again. So the process can end in order, and the last one frees the store. Afterwards
/// the signal is in force again.
///
/// Threads: any.
/// Lifetime: the destructor calls it off. If the parent has ended, the destructor ends this process.
class end_guard {
public:
  /// Fails with `bad_option` if `patience` is negative or the system has no thread, with `unsupported` if it has no
  /// descriptor.
  [[nodiscard]] static std::expected<std::unique_ptr<end_guard>, node_error> make(std::chrono::milliseconds patience);
  end_guard(const end_guard&) = delete;
  end_guard& operator=(const end_guard&) = delete;
  ~end_guard();

  /// The link has ended.
  void start();

private:
  explicit end_guard(std::chrono::milliseconds patience);
  void run();
  void wait_for_start() const;
  void restore_signal() const;

  const std::chrono::milliseconds patience_;
  int parent_ = -1; // Readable once the parent has ended. -1: it is not known.
  int wake_ = -1;   // Readable once one of the flags is set.
  bool replaces_signal_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_off_ = false; // Guarded by mutex_.
  std::thread thread_;
};

} // namespace troupe::internal
