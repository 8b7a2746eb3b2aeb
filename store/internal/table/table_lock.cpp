#include <troupe/store/internal/table/table_lock.hpp>

#include <troupe/store/internal/host/clock.hpp>
#include <troupe/store/internal/table/object_table.hpp>
#include <troupe/store/internal/table/recovery.hpp>

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <new>
#include <string>
#include <thread>

namespace troupe::store::internal {

namespace {

/// Rebuilds the table. If memory runs out, the lock stays usable, and its next owner tries again. Requires: the lock is
/// held, and is inconsistent if `owner_died`.
[[nodiscard]] std::expected<table_guard, store_error> rebuild(control_view view, std::uint32_t slot, bool owner_died) {
  auto& header = view.header();
  header.lock_owner.store(slot);
  header.rebuild_wanted.store(1);
  try {
    if (auto rebuilt = recover(table_held::vouched_for(view)); !rebuilt) {
      pthread_mutex_unlock(&header.lock); // If the owner died, the lock stays inconsistent and fails for all callers.
      return std::unexpected(store_error{store_errc::corrupt, "the store's table is inconsistent: " + rebuilt.error()});
    }
  } catch (const std::bad_alloc&) {
    if (owner_died)
      pthread_mutex_consistent(&header.lock);
    header.lock_owner.store(no_slot);
    pthread_mutex_unlock(&header.lock);
    return std::unexpected(store_error{store_errc::system_failure, "out of memory"}); // Too short for an allocation.
  }
  header.rebuild_wanted.store(0);
  header.reap_wanted.store(1);
  if (owner_died)
    pthread_mutex_consistent(&header.lock);
  return table_guard{view, slot};
}

/// Turns `status`, the result of a lock call, into a guard or an error.
[[nodiscard]] std::expected<table_guard, store_error> finish(control_view view, std::uint32_t slot, int status) {
  if (status == 0 && view.header().rebuild_wanted.load(std::memory_order_relaxed) == 0)
    return table_guard{view, slot};
  if (status == 0 || status == EOWNERDEAD)
    return rebuild(view, slot, status == EOWNERDEAD);
  if (status == ENOTRECOVERABLE)
    return std::unexpected(store_error{store_errc::corrupt, "the store's table could not be rebuilt after a process "
                                                            "died; end all processes that use it and open it again"});
  return std::unexpected(store_error{store_errc::system_failure,
                                     std::string("locking the store's table failed: ") + std::strerror(status)});
}

#if defined(__SANITIZE_THREAD__)

/// ThreadSanitizer knows that pthread_mutex_trylock may return EOWNERDEAD, but reports the unlock after a
/// pthread_mutex_clocklock that did so as an error.
[[nodiscard]] int lock_within(pthread_mutex_t& lock, std::chrono::milliseconds timeout) {
  const auto until = deadline(timeout);
  auto status = pthread_mutex_trylock(&lock);
  for (; status == EBUSY && !until.passed(); status = pthread_mutex_trylock(&lock))
    ::sched_yield();
  return status == EBUSY ? ETIMEDOUT : status;
}

#else

[[nodiscard]] int lock_within(pthread_mutex_t& lock, std::chrono::milliseconds timeout) {
  const auto until = deadline(timeout).when();
  return pthread_mutex_clocklock(&lock, CLOCK_MONOTONIC, &until); // Setting the host's clock must not end the wait.
}

#endif

/// Tells the processor that this is a spin loop.
void relax_processor() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// A measure of the contention for the lock between this process and others. Rises with each lock that was not free at
/// once, and falls with each that was. It is only a hint, so threads may overwrite each other's updates.
class contention {
public:
  [[nodiscard]] int level() const { return level_.load(std::memory_order_relaxed); }
  void met() { level_.store(std::min(level() + 256, 1024), std::memory_order_relaxed); }
  void not_met() {
    if (const auto now = level(); now > 0)
      level_.store(now - 1, std::memory_order_relaxed);
  }

private:
  std::atomic<int> level_{0};
};

contention recent_contention;

/// Spins for a lock that is held for less than a microsecond, because a sleep would take longer. Returns `EBUSY` if the
/// lock is held for longer. Moving the table from one core to another costs more than changing it. Therefore, if two
/// processes change the table all the time, each leaves it to the other for a few dozen changes in a row.
[[nodiscard]] int try_for_a_moment(pthread_mutex_t& lock) {
  constexpr auto tries = 8;
  auto status = EBUSY;
  auto pause = std::max(recent_contention.level(), 1);
  recent_contention.met();
  for (auto left = tries; status == EBUSY && left > 0; --left, pause *= pause < 64 ? 2 : 1) {
    for (auto i = 0; i < pause; ++i)
      relax_processor();
    status = pthread_mutex_trylock(&lock);
  }
  return status;
}

/// The count never falls below 0. Reaping resets it because of waiters that were killed while waiting, and thereby
/// forgets living ones.
void leave_waiting(control_header& header) {
  auto waiting = header.lock_waiting.load(std::memory_order_relaxed);
  while (waiting > 0 && !header.lock_waiting.compare_exchange_weak(waiting, waiting - 1, std::memory_order_relaxed)) {
  }
}

[[nodiscard]] std::uint32_t cut_ms() {
  return static_cast<std::uint32_t>(monotonic_ns() / 1'000'000) | 1; // Never 0.
}

/// While many threads lock and unlock all the time, a sleeping thread may never find the lock free, because a mutex
/// goes to the next thread that comes by. So after a long wait, this thread asks all others to hold back for a moment,
/// and repeats that until it has the lock.
[[nodiscard]] int lock_patiently(control_header& header, std::chrono::milliseconds timeout) {
  constexpr auto patience = std::chrono::milliseconds{50};
  constexpr auto step = std::chrono::milliseconds{2};
  const auto until = deadline(timeout);
  auto status = lock_within(header.lock, std::min(timeout, patience));
  while (status == ETIMEDOUT && !until.passed()) {
    header.lock_left_until.store(cut_ms() + static_cast<std::uint32_t>(2 * step.count()), std::memory_order_relaxed);
    status = lock_within(header.lock, std::min(step, until.left()));
    if (status != ETIMEDOUT)
      header.lock_left_until.store(0, std::memory_order_relaxed);
  }
  return status;
}

/// Lets long waiters have the lock first, but not for ever, because a stopped owner keeps it from all.
void hold_back(control_header& header) {
  constexpr auto pause = std::chrono::microseconds{200};
  constexpr auto pauses_max = 50;
  for (auto left = pauses_max; left > 0; --left) {
    auto until = header.lock_left_until.load(std::memory_order_relaxed);
    if (until == 0)
      return;
    if (static_cast<std::int32_t>(until - cut_ms()) <= 0) // The waiter that asked for it has died or was stopped.
      header.lock_left_until.compare_exchange_strong(until, 0, std::memory_order_relaxed);
    else
      std::this_thread::sleep_for(pause);
  }
}

[[nodiscard]] store_error busy_error(control_view view, std::chrono::milliseconds timeout) {
  const auto owner = view.header().lock_owner.load();
  auto who = std::string{"a process"};
  if (owner < slots_max)
    who = "process " + std::to_string(view.slot(owner).pid.load());
  return {store_errc::busy, "the store's table has been locked by " + who + " for more than "
                                + std::to_string(timeout.count()) + " ms; is it stopped?"};
}

} // namespace

void init_table_lock(control_view view) {
  auto attributes = pthread_mutexattr_t{};
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(&view.header().lock, &attributes);
  pthread_mutexattr_destroy(&attributes);
  view.header().lock_owner.store(no_slot);
}

std::expected<table_guard, store_error> lock_table(control_view view, std::uint32_t slot,
                                                   std::chrono::milliseconds timeout) {
  auto& header = view.header();
  if (header.lock_left_until.load(std::memory_order_relaxed) != 0) [[unlikely]]
    hold_back(header);
  auto status = pthread_mutex_trylock(&header.lock);
  if (status != EBUSY) {
    recent_contention.not_met();
  } else {
    header.lock_waiting.fetch_add(1, std::memory_order_relaxed);
    status = try_for_a_moment(header.lock);
    if (status == EBUSY)
      status = lock_patiently(header, timeout);
    leave_waiting(header);
  }
  if (status == ETIMEDOUT)
    return std::unexpected(busy_error(view, timeout));
  return finish(view, slot, status);
}

void reclaim_hinted(control_view view, std::uint32_t self) noexcept {
  constexpr auto rounds = 4; // One call does not do the work of all others.
  for (auto left = rounds; left > 0 && any_hint(view.hints()); --left) {
    auto guard = try_lock_table(view, self);
    if (!guard)
      return;
    reclaim_some(*guard);
    guard->leave_hints(); // The next round checks them.
  }
}

void reclaim_some(table_held held) noexcept {
  (void)object_table(held).reclaim(reclaim_batch);
}

void let_others_go_first(control_view view) {
  // The time that it takes to wake a waiter.
  constexpr auto pause = std::chrono::microseconds{100};
  if (view.header().lock_waiting.load(std::memory_order_relaxed) > 0)
    std::this_thread::sleep_for(pause);
}

std::expected<table_guard, store_error> try_lock_table(control_view view, std::uint32_t slot) {
  const auto status = pthread_mutex_trylock(&view.header().lock);
  if (status == EBUSY)
    return std::unexpected(store_error{store_errc::busy, {}});
  return finish(view, slot, status);
}

} // namespace troupe::store::internal
