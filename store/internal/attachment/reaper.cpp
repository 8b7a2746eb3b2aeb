#include <troupe/store/internal/attachment/reaper.hpp>

#include <troupe/store/internal/host/clock.hpp>
#include <troupe/store/internal/liveness/reaping.hpp>

#include <algorithm>

namespace troupe::store::internal {

namespace {

// A holder that exceeds this time is assumed to be stopped; a busy one releases the lock sooner.
constexpr auto look_patience = std::chrono::milliseconds{100};

} // namespace

std::chrono::nanoseconds looking_interval(const options& settings) {
  return std::min(settings.reap_interval, std::chrono::milliseconds{std::chrono::hours{24}});
}

std::expected<std::size_t, store_error> reaper::reap() {
  if (auto valid = member_.check_lock_file(); !valid)
    return std::unexpected(valid.error());
  view_.header().looked_ns.store(monotonic_ns(), std::memory_order_relaxed); // Other processes need not look now.
  const auto reaped = reap_dead(view_, store_.lock, store_.self.slot, store_.settings.lock_timeout);
  if (!reaped)
    return reaped;
  if (auto dropped = ended_.drop_late(); !dropped)
    return std::unexpected(dropped.error());
  if (auto reclaimed = reclaim_all(view_, store_.self.slot, store_.settings.lock_timeout); !reclaimed)
    return std::unexpected(reclaimed.error());
  if (auto removed = files_.remove_all(); !removed)
    return std::unexpected(removed.error());
  if (*reaped > 0)
    changes_.announce();
  return reaped;
}

std::expected<void, store_error> reaper::reap_while_waiting() {
  auto& looked_ns = view_.header().waiter_looked_ns;
  const auto now_ns = monotonic_ns();
  auto last_ns = looked_ns.load();
  if (now_ns - last_ns < std::chrono::nanoseconds{look_pause}.count()
      || !looked_ns.compare_exchange_strong(last_ns, now_ns))
    return {};
  if (auto reaped = reap(); !reaped)
    return std::unexpected(reaped.error());
  return {};
}

void reaper::reap_unasked() {
  auto& looked_ns = view_.header().looked_ns;
  const auto now_ns = monotonic_ns();
  auto last_ns = looked_ns.load();
  // Slightly less than the interval, so that the same process looks every time instead of each process a little later.
  const auto interval = looking_interval(store_.settings) * 9 / 10;
  if (member_.forked() || now_ns - last_ns < interval.count() || !looked_ns.compare_exchange_strong(last_ns, now_ns))
    return;
  const auto timeout = std::min(store_.settings.lock_timeout, look_patience);
  const auto is_to_be_had = lock_table(view_, store_.self.slot, timeout).has_value();
  if (is_to_be_had)
    (void)reap();
}

void reaper::reclaim() {
  (void)reclaim_all(view_, store_.self.slot, store_.settings.lock_timeout);
  (void)files_.remove_all();
  changes_.announce();
}

} // namespace troupe::store::internal
