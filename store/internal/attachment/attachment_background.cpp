// What is done before somebody has to wait for it: one thread, started when there is the first thing to do.
#include <troupe/store/internal/attachment/attachment.hpp>

#include <troupe/store/internal/files/page_care.hpp>
#include <troupe/store/internal/host/clock.hpp>
#include <troupe/store/internal/liveness/reaping.hpp>

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <utility>

namespace troupe::store::internal {

namespace {

// So full memory is left.
constexpr std::uint64_t spill_down_to_percent = 80;

// Who is stopped in the lock is asked again so soon, beyond the time that each try takes.
constexpr auto busy_pause = std::chrono::milliseconds{10};

// Who keeps the lock for so long is stopped; who is only busy gives it back sooner.
constexpr auto look_patience = std::chrono::milliseconds{100};

[[nodiscard]] std::chrono::nanoseconds looking_interval(const options& settings) {
  return std::min(settings.reap_interval, std::chrono::milliseconds{std::chrono::hours{24}});
}

} // namespace

class attachment::background {
public:
  explicit background(attachment& of) : of_(of), thread_(start()) {}
  background(const background&) = delete;
  background& operator=(const background&) = delete;
  ~background() { end(); }

  void end() {
    {
      const auto guard = std::lock_guard{mutex_};
      ending_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable())
      thread_.join();
  }

  /// Also by what it does itself.
  void want(job what) {
    if (!has_thread_)
      return do_it(what);
    {
      const auto guard = std::lock_guard{mutex_};
      if (std::exchange(wanted_[static_cast<std::size_t>(what)], true))
        return;
    }
    changed_.notify_all();
  }

private:
  /// Signals are for the program's own threads.
  std::thread start() {
    auto all = sigset_t{};
    auto before = sigset_t{};
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    auto made = std::thread{};
    try {
      made = std::thread{[this] { run(); }};
    } catch (const std::system_error&) { // Then who wants something does it.
    }
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return made;
  }

  void run() {
    auto guard = std::unique_lock{mutex_};
    for (auto next_look = std::chrono::steady_clock::now() + interval_; !ending_;) {
      // However much else there is to do.
      if (const auto now = std::chrono::steady_clock::now(); interval_.count() > 0 && now >= next_look) {
        wanted_[static_cast<std::size_t>(job::look)] = true;
        next_look = now + interval_;
      }
      const auto what = std::ranges::find(wanted_, true);
      if (what != wanted_.end()) {
        *what = false;
        guard.unlock();
        try {
          do_it(static_cast<job>(what - wanted_.begin()));
        } catch (const std::bad_alloc&) { // Whoever needs it does it then, and is told.
        }
        guard.lock();
      } else if (interval_.count() > 0) {
        changed_.wait_until(guard, next_look);
      } else {
        changed_.wait(guard);
      }
    }
  }

  /// A failure is told to whoever needs what was to be done.
  void do_it(job what) {
    switch (what) {
    case job::spill:
      if (const auto excess = bytes_to_spill(); excess > 0)
        (void)of_.spill(excess, search::some, no_end);
      return;
    case job::reap:
      (void)of_.reap();
      return;
    case job::look:
      return of_.look_for_dead();
    case job::reclaim:
      (void)reclaim_all(of_.view_, of_.store_.self.slot, of_.store_.settings.lock_timeout);
      (void)of_.remove_spill_files();
      of_.announce();
      return;
    case job::touch:
      if (of_.touch_some())
        want(job::touch); // Others first.
      return;
    case job::remove_files:
      (void)of_.remove_spill_files();
      return;
    case job::give_up_half_done:
      if (!of_.give_up_half_done() && has_thread_) {
        std::this_thread::sleep_for(busy_pause);
        want(what);
      }
      return;
    }
  }

  [[nodiscard]] std::uint64_t bytes_to_spill() const {
    const auto guard = of_.lock();
    if (!guard)
      return 0;
    const auto& header = of_.view_.header();
    const auto kept = header.capacity_bytes / 100 * spill_down_to_percent + object_table(*guard).bytes_being_spilled();
    return header.bytes_in_use > kept ? header.bytes_in_use - kept : 0;
  }

  attachment& of_;
  const std::chrono::nanoseconds interval_ = looking_interval(of_.settings());
  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  std::array<bool, jobs> wanted_{};
  bool ending_ = false;
  std::thread thread_; // It uses all above.
  const bool has_thread_ = thread_.joinable();
};

void attachment::ends::operator()(background* what) const {
  delete what; // NOLINT: the deleter of a unique_ptr.
}

void attachment::in_background(job what) noexcept {
  try {
    std::call_once(background_started_, [this] { background_.reset(new background(*this)); });
    if (background_ != nullptr) // Else all has ended here.
      background_->want(what);
  } catch (const std::bad_alloc&) { // Whoever needs it comes later and asks again.
  }
}

void attachment::begin_background() noexcept {
  if (store_.settings.pretouch_bytes > 0)
    in_background(job::touch);
  if (store_.settings.reap_interval.count() > 0)
    in_background(job::look);
}

/// Unless another process has done so lately, or who has the lock does not give it back: nobody waits for this.
void attachment::look_for_dead() {
  auto& looked_ns = view_.header().looked_ns;
  const auto now_ns = monotonic_ns();
  auto last_ns = looked_ns.load();
  // A little less than the interval, so that who looks every time is the same process, and not each a little later.
  const auto interval = looking_interval(settings()) * 9 / 10;
  if (forked() || now_ns - last_ns < interval.count() || !looked_ns.compare_exchange_strong(last_ns, now_ns))
    return;
  const auto timeout = std::min(settings().lock_timeout, look_patience);
  const auto is_to_be_had = lock_table(view_, store_.self.slot, timeout).has_value();
  if (is_to_be_had)
    (void)reap();
}

/// Whether there is less ready than was asked for, by enough to be worth it.
bool attachment::has_to_touch(table_held held) const {
  const auto& header = held.view().header();
  const auto ahead = std::min<std::uint64_t>(store_.settings.pretouch_bytes, header.capacity_bytes);
  const auto touched = touched_bytes_.load(std::memory_order_relaxed);
  return ahead > 0 && touched < header.capacity_bytes && touched < header.data_top + ahead - ahead / 4;
}

/// Gives whether more memory is left to touch. A failure is not reported here: whoever needs the memory gets the error.
/// Room below `data_top` gets no pages here: somebody may have claimed it for bytes that never come.
bool attachment::touch_some() {
  constexpr auto piece_bytes = std::uint64_t{4} << 20;
  const auto begin = touched_bytes_.load(std::memory_order_relaxed);
  auto data_top = std::uint64_t{0};
  auto end = std::uint64_t{0};
  {
    const auto guard = lock();
    if (!guard)
      return false;
    const auto& header = view_.header();
    data_top = header.data_top;
    end = header.data_top + std::min(header.capacity_bytes - header.data_top, store_.settings.pretouch_bytes);
  }
  if (begin >= end)
    return false;
  end = std::min<std::uint64_t>(end, begin + piece_bytes);
  if (!pages_.commit(std::max(begin, data_top), end))
    return false;
  for (auto at = begin; at < end; at = round_up(at + 1, data_step_bytes)) {
    const auto length = std::min(round_up(at + 1, data_step_bytes), end) - at;
    if (!pages_.are_known(at, at + length))
      continue;
    touch_for_writing({writable_ + at, length});
    touch_for_reading({readable_ + at, length});
  }
  touched_bytes_.store(end, std::memory_order_relaxed);
  return true;
}

void attachment::end_background() noexcept {
  if (background_ != nullptr)
    background_->end(); // Only then is it taken away: its thread asks for more.
  background_.reset();
}

/// Where the last object in a file has gone.
void attachment::remove_spill_files_if_wanted() noexcept {
  if (spills_.is_there() && view_.header().spill_files_to_remove.load(std::memory_order_relaxed) != 0)
    in_background(job::remove_files);
}

} // namespace troupe::store::internal
