// What is done before somebody has to wait for it.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>

namespace troupe::store::internal {

/// In the order in which they are done.
enum class job : std::uint8_t {
  give_up_half_done,
  reap,
  look,
  spill, // May be wanted all the time.
  reclaim,
  remove_files,
  touch
};

/// What came of a job.
enum class progress : std::uint8_t {
  done,
  more,   // Part of it; the rest when others have had their turn.
  held_up // Nothing; it is tried again soon.
};

/// Does jobs for which nobody waits, in one thread, which begins with the first job.
///
/// Threads: any; end() and leave_to_parent() when nobody else uses it any more.
class background {
public:
  using doer = std::function<progress(job)>;

  /// A `look` is done every `look_interval`, however much else there is to do; 0: never.
  background(std::chrono::nanoseconds look_interval, doer do_it);
  background(const background&) = delete;
  background& operator=(const background&) = delete;
  ~background();

  /// Also by what it does itself. Where there can be no thread, it is done at once.
  void want(job what) noexcept;

  /// Waits for what is being done. Nothing is done any more from then on.
  void end() noexcept;
  /// The same in a forked child: the thread is not in this process.
  void leave_to_parent() noexcept;

private:
  class worker;

  const std::chrono::nanoseconds look_interval_;
  const doer do_it_;
  std::once_flag begun_;
  std::unique_ptr<worker> worker_; // Set once; null as well when all has ended.
  bool is_left_ = false;
};

} // namespace troupe::store::internal
