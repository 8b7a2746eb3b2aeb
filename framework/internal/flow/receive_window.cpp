#include <troupe/framework/internal/flow/receive_window.hpp>

#include <algorithm>
#include <mutex>
#include <string>

#include <troupe/base/sizes.hpp>
#include <troupe/framework/internal/threads/lock_gap.hpp>
#include <troupe/framework/internal/watch/table_walk.hpp>

namespace troupe::internal {

/// What receipts access from any thread. The counters are sums of additions; the thread whose addition exceeds a bound
/// calls wake.
struct receive_window::shared_state {
  shared_state(const receive_bounds& bounds, std::function<void()> wake_up)
      : report_at(std::max<std::uint64_t>(1, bounds.window / 8)),
        actor_report_at(std::max<std::uint64_t>(1, bounds.actor_window / 8)),
        gathered_max(std::min(report_at, actor_report_at) / 8),
        wake(std::move(wake_up)) {}

  void wake_once() {
    if (!woken.exchange(true, std::memory_order_acq_rel))
      wake();
  }

  void list(std::uint64_t actor) {
    std::lock_guard guard{mutex};
    due.push_back(actor);
  }

  [[nodiscard]] std::vector<std::uint64_t> take_list() {
    std::lock_guard guard{mutex};
    return std::exchange(due, {});
  }

  const std::uint64_t report_at;
  const std::uint64_t actor_report_at;
  const std::uint64_t gathered_max; // Small compared with a report.
  const std::function<void()> wake;
  std::atomic<std::uint64_t> consumed{0}; // By all actors, and not reported.
  std::atomic<bool> woken{false};
  std::mutex mutex;
  std::vector<std::uint64_t> due; // Guarded by mutex.
};

class receive_window::account final : public consumption {
public:
  account(std::uint64_t actor, std::shared_ptr<shared_state> shared, std::shared_ptr<const void> keeps)
      : consumption(shared->gathered_max, std::move(keeps)), actor_(actor), shared_(std::move(shared)) {}

  void consumed(std::uint64_t cost) noexcept override {
    auto own = consumed_.fetch_add(cost, std::memory_order_acq_rel) + cost;
    auto all = shared_->consumed.fetch_add(cost, std::memory_order_acq_rel) + cost;
    if (own >= shared_->actor_report_at || released_.load(std::memory_order_acquire))
      report();
    else if (all >= shared_->report_at)
      shared_->wake_once();
  }

  void report() {
    if (!listed_.exchange(true, std::memory_order_acq_rel))
      shared_->list(actor_);
    shared_->wake_once();
  }

  /// Returns the bytes that were consumed and not reported, and counts them as reported.
  std::uint64_t take() noexcept {
    listed_.store(false, std::memory_order_release);
    auto taken = consumed_.exchange(0, std::memory_order_acq_rel);
    shared_->consumed.fetch_sub(taken, std::memory_order_acq_rel);
    outstanding.store(outstanding_bytes() - taken, std::memory_order_relaxed);
    return taken;
  }

  [[nodiscard]] std::uint64_t outstanding_bytes() const noexcept { return outstanding.load(std::memory_order_relaxed); }
  /// Any thread.
  [[nodiscard]] std::uint64_t unconsumed_bytes() const noexcept {
    const auto unreported = consumed_.load(std::memory_order_acquire);
    const auto sent = outstanding_bytes();
    return sent > unreported ? sent - unreported : 0;
  }

  /// Whether consumption is reported at once.
  void set_released(bool released) noexcept { released_.store(released, std::memory_order_release); }
  [[nodiscard]] bool released() const noexcept { return released_.load(std::memory_order_acquire); }

  std::atomic<std::uint64_t> outstanding{0}; // As the peer sees it. Written on the I/O thread.
  std::uint64_t largest = 0;                 // Of all its messages. I/O thread only.

private:
  const std::uint64_t actor_;
  const std::shared_ptr<shared_state> shared_;
  std::atomic<std::uint64_t> consumed_{0}; // Not reported.
  std::atomic<bool> released_{false};
  std::atomic<bool> listed_{false}; // In shared_->due.
};

receive_window::receive_window(const receive_bounds& bounds, std::function<void()> wake,
                               std::shared_ptr<const void> keeps)
    : bounds_(bounds), shared_(std::make_shared<shared_state>(bounds, std::move(wake))), keeps_(std::move(keeps)) {}

receive_window::~receive_window() = default;

std::expected<receipt, node_error> receive_window::received(std::uint64_t actor, std::uint64_t cost) {
  if (last_ == nullptr || last_actor_ != actor) {
    last_ = &account_of(actor);
    last_actor_ = actor;
  }
  auto& found = *last_;
  auto all = outstanding_.load(std::memory_order_relaxed);
  found.largest = std::max(found.largest, cost);
  largest_ = std::max(largest_, cost);
  const auto exceeds = [cost](std::uint64_t before, std::uint64_t largest, std::uint64_t window) {
    const auto with = before + cost;
    return with >= largest && with - largest >= window;
  };
  const auto own = found.outstanding_bytes();
  if (exceeds(own, found.largest, bounds_.actor_window)
      || (bounds_.holds_link && exceeds(all, largest_, bounds_.window)))
    return std::unexpected{node_error{node_errc::protocol_violation,
                                      "the peer exceeded its credit for actor " + grouped(actor) + ": " + grouped(own)
                                          + " of " + grouped(bounds_.actor_window) + " bytes unconsumed for the actor, "
                                          + grouped(all) + " of " + grouped(bounds_.window) + " for the link"}};
  found.outstanding.store(own + cost, std::memory_order_relaxed);
  outstanding_.store(all + cost, std::memory_order_relaxed); // Only this thread writes it.
  found.set_released(false);
  return found.issue(cost);
}

receive_window::account& receive_window::account_of(std::uint64_t actor) {
  if (const auto known = accounts_.find(actor); known != accounts_.end())
    return *known->second;
  consumption_ptr<account> added{new account{actor, shared_, keeps_}};
  const std::lock_guard guard{table_mutex_};
  return *accounts_.emplace(actor, std::move(added)).first->second;
}

std::vector<unconsumed_by_actor> receive_window::unconsumed() const {
  std::vector<unconsumed_by_actor> result;
  table_walk walk;
  const auto next = [&] {
    const std::lock_guard guard{table_mutex_};
    return walk.next(accounts_, [&](const auto& each) {
      const auto& [actor, one] = each;
      if (const auto messages = one->unsettled(); messages > 0)
        result.push_back({.actor = actor, .messages = messages, .bytes = one->unconsumed_bytes()});
    });
  };
  while (next())
    leave_lock_to_others();
  std::ranges::sort(result, {}, &unconsumed_by_actor::actor);
  const auto again = std::ranges::unique(result, {}, &unconsumed_by_actor::actor);
  result.erase(again.begin(), again.end());
  return result;
}

std::vector<std::pair<std::uint64_t, std::uint64_t>> receive_window::take_due() {
  // First, so that later consumption wakes again.
  shared_->woken.store(false, std::memory_order_release);
  auto actors = shared_->take_list();
  if (shared_->consumed.load(std::memory_order_acquire) >= shared_->report_at)
    for (const auto& [actor, one] : accounts_)
      actors.push_back(actor);
  std::vector<std::pair<std::uint64_t, std::uint64_t>> due;
  for (auto actor : actors) {
    auto found = accounts_.find(actor);
    if (found == accounts_.end())
      continue;
    auto& one = *found->second;
    if (auto consumed = one.take(); consumed > 0) {
      outstanding_.store(outstanding_.load(std::memory_order_relaxed) - consumed, std::memory_order_relaxed);
      due.emplace_back(actor, consumed);
    }
    if (one.released() && one.outstanding_bytes() == 0) {
      const std::lock_guard guard{table_mutex_};
      accounts_.erase(found);
      last_ = nullptr;
    }
  }
  return due;
}

void receive_window::release(std::uint64_t actor) {
  auto found = accounts_.find(actor);
  if (found == accounts_.end())
    return;
  found->second->set_released(true);
  found->second->report();
}

std::uint64_t receive_window::unconsumed_bytes() const noexcept {
  auto unreported = shared_->consumed.load(std::memory_order_acquire);
  auto outstanding = outstanding_.load(std::memory_order_relaxed);
  return outstanding > unreported ? outstanding - unreported : 0;
}

} // namespace troupe::internal
