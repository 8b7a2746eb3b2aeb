#include <troupe/store/internal/attachment/background.hpp>

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstddef>
#include <new>
#include <system_error>
#include <thread>
#include <utility>

namespace troupe::store::internal {

namespace {

constexpr auto jobs = static_cast<std::size_t>(job::touch) + 1;

// The pause before a held-up job is retried, in addition to the time of each try.
constexpr auto held_up_pause = std::chrono::milliseconds{10};

} // namespace

class background::worker {
public:
  worker(std::chrono::nanoseconds look_interval, const doer& do_it)
      : look_interval_(look_interval), do_it_(do_it), thread_(start()) {}
  worker(const worker&) = delete;
  worker& operator=(const worker&) = delete;
  ~worker() { end(); }

  void end() {
    {
      const auto guard = std::lock_guard{mutex_};
      ending_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable())
      thread_.join();
  }

  void want(job what) {
    if (!has_thread_) {
      while (do_it_(what) == progress::more) {
      }
      return;
    }
    {
      const auto guard = std::lock_guard{mutex_};
      if (std::exchange(wanted_[static_cast<std::size_t>(what)], true))
        return;
    }
    changed_.notify_all();
  }

private:
  /// Starts the thread with all signals blocked, because signals are for the program's own threads.
  std::thread start() {
    auto all = sigset_t{};
    auto before = sigset_t{};
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    auto made = std::thread{};
    try {
      made = std::thread{[this] { run(); }};
    } catch (const std::system_error&) { // Then want() runs the jobs.
    }
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return made;
  }

  void run() {
    auto guard = std::unique_lock{mutex_};
    for (auto next_look = std::chrono::steady_clock::now() + look_interval_; !ending_;) {
      // The look takes place even if other jobs are pending.
      if (const auto now = std::chrono::steady_clock::now(); look_interval_.count() > 0 && now >= next_look) {
        wanted_[static_cast<std::size_t>(job::look)] = true;
        next_look = now + look_interval_;
      }
      const auto what = std::ranges::find(wanted_, true);
      if (what != wanted_.end()) {
        *what = false;
        guard.unlock();
        do_one(static_cast<job>(what - wanted_.begin()));
        guard.lock();
      } else if (look_interval_.count() > 0) {
        changed_.wait_until(guard, next_look);
      } else {
        changed_.wait(guard);
      }
    }
  }

  void do_one(job what) {
    try {
      const auto came = do_it_(what);
      if (came == progress::done)
        return;
      if (came == progress::held_up)
        std::this_thread::sleep_for(held_up_pause);
      want_again(what);
    } catch (const std::bad_alloc&) { // A call that needs the job's result does the work itself and reports the error.
    }
  }

  /// Called by the thread itself. It checks for jobs before it sleeps.
  void want_again(job what) {
    const auto guard = std::lock_guard{mutex_};
    wanted_[static_cast<std::size_t>(what)] = true;
  }

  const std::chrono::nanoseconds look_interval_;
  const doer& do_it_;
  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  std::array<bool, jobs> wanted_{};
  bool ending_ = false;
  std::thread thread_; // Uses all members above.
  const bool has_thread_ = thread_.joinable();
};

background::background(std::chrono::nanoseconds look_interval, doer do_it)
    : look_interval_(look_interval), do_it_(std::move(do_it)) {}

background::~background() {
  if (!is_left_) // The once_flag may have been in use at the fork.
    end();
}

void background::want(job what) noexcept {
  try {
    std::call_once(begun_, [this] { worker_ = std::make_unique<worker>(look_interval_, do_it_); });
    if (worker_ != nullptr) // Null after end().
      worker_->want(what);
  } catch (const std::bad_alloc&) { // A call that needs the job requests it again later.
  }
}

void background::end() noexcept {
  std::call_once(begun_, [] {}); // Prevents a later start.
  if (worker_ != nullptr)
    worker_->end(); // Before the reset, because the thread may still call want().
  worker_.reset();
}

void background::leave_to_parent() noexcept {
  (void)worker_.release();
  is_left_ = true;
}

} // namespace troupe::store::internal
