// Threads that may block.
#pragma once

#include <functional>
#include <memory>

namespace troupe::membership {

/// Calls functions on a few threads, which start with the first one.
///
/// Threads: any. Lifetime: the destructor waits for functions that run.
class work_threads {
public:
  explicit work_threads(unsigned count);
  work_threads(const work_threads&) = delete;
  work_threads& operator=(const work_threads&) = delete;
  ~work_threads();

  void run(std::function<void()> what);
  /// From now on no function is called; those that run go on.
  void stop();

private:
  class pool;

  const std::unique_ptr<pool> pool_;
};

} // namespace troupe::membership
