#include <troupe/store/internal/attachment/change_signal.hpp>

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <ctime>
#include <utility>

namespace troupe::store::internal {

void change_signal::announce() noexcept {
  auto& header = view_.header();
  if (header.waiting.load() == 0 || header.waiting.exchange(0) == 0)
    return;
  header.changes.fetch_add(1);
  ::syscall(SYS_futex, &header.changes, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

void change_signal::wait(watch& since, std::chrono::nanoseconds longest) noexcept {
  auto& header = view_.header();
  if (!std::exchange(since.is_set, !since.is_set)) {
    header.waiting.store(1);
    since.seen = header.changes.load();
    return;
  }
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(longest);
  const auto time = timespec{static_cast<time_t>(seconds.count()), static_cast<long>((longest - seconds).count())};
  ::syscall(SYS_futex, &header.changes, FUTEX_WAIT, since.seen, &time, nullptr, 0);
}

} // namespace troupe::store::internal
