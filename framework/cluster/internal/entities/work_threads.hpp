// Threads that may block.
#pragma once

#include <functional>
#include <memory>

namespace troupe::membership {

/// Calls functions on a few threads, which start with the first one.
///
/// Threads: any. Lifetime: a function that runs may hold the last reference, so end() is called before.
class work_threads {
public:
  explicit work_threads(unsigned count);
  work_threads(const work_threads&) = delete;
  work_threads& operator=(const work_threads&) = delete;
  ~work_threads(); // After end().

  void run(std::function<void()> what);
  /// From now on no function is called; waits for those that run.
  void end();

private:
  class pool;

  const std::unique_ptr<pool> pool_;
};

} // namespace troupe::membership
