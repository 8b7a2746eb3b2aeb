#include <troupe/framework/cluster/internal/host/watch_loop.hpp>

#include <troupe/framework/cluster/internal/host/change_batch.hpp>
#include <troupe/framework/cluster/internal/host/clock.hpp>
#include <troupe/framework/cluster/internal/host/host_errors.hpp>

#include <algorithm>
#include <array>
#include <vector>

#include <poll.h>

namespace troupe::cluster_directories {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds longest_pause{2'000};
constexpr milliseconds pause_without_bell{50}; // If the system has no inotify instance left.
constexpr milliseconds pause_after_busy{50};
constexpr milliseconds wait_to_end_leases{100};

} // namespace

void watch_loop::close() {
  watches_->close();
  wakes_.wake();
}

void watch_loop::run() {
  const bell_ear ear{database_->path()};
  while (!watches_->is_closed())
    wait(ear, look());
  for (const auto& each : watches_->all())
    watches_->end(each, closed_error(database_->path()));
}

/// Ends leases, delivers changes, and returns how long nothing will have to be done.
milliseconds watch_loop::look() {
  const auto all = watches_->all();
  if (all.empty())
    return longest_pause;
  auto pause = end_due_leases();
  for (const auto& each : all)
    if (!deliver(each))
      pause = std::min(pause, pause_after_busy);
  return pause;
}

/// Returns the time until the next lease ends.
milliseconds watch_loop::end_due_leases() {
  std::vector<lease_record> leases;
  const call_deadline deadline{database_->settings().timeout};
  if (!database_->read(deadline, [&](records& rows) { leases = rows.leases(); }))
    return pause_after_busy;
  const auto ended = database_->processes().ended_of(owners_of(leases));
  const auto now = static_cast<std::uint64_t>(boottime_ms());
  auto pause = longest_pause;
  for (const auto& lease : leases) {
    if (is_due(lease, now, ended)) {
      const auto is_ended =
          database_->write(call_deadline{wait_to_end_leases}, write_safety::process_end, [](record_writer&) {});
      return is_ended ? milliseconds::zero() : pause_after_busy; // Zero: looks again, for the next lease's time.
    }
    if (const auto left = lease.ends - now + 1; left < static_cast<std::uint64_t>(pause.count()))
      pause = milliseconds{left};
  }
  return pause;
}

/// Returns false if the database was busy.
bool watch_loop::deliver(const std::shared_ptr<watched>& watch) {
  while (!watches_->is_closed()) {
    change_batch batch;
    const call_deadline deadline{database_->settings().timeout};
    auto done = database_->read(deadline, [&](records& rows) { batch = read_batch(rows, watch->prefix, watch->next); });
    if (!done) {
      if (done.error().code() == directory_errc::busy)
        return false;
      watches_->end(watch, done.error());
      return true;
    }
    if (batch.is_compacted) {
      watches_->end(watch, compacted_error(watch->next));
      return true;
    }
    // A watch may begin at a revision that is still to come.
    watch->next = std::max(watch->next, batch.through + 1);
    if (batch.changes.empty())
      return true;
    watch->calls.changes(batch.changes, batch.changes.back().entry.changed_revision);
  }
  return true;
}

void watch_loop::wait(const bell_ear& ear, milliseconds pause) {
  if (ear.readable() < 0)
    pause = std::min(pause, pause_without_bell);
  std::array<pollfd, 3> sources{{{.fd = wakes_.number(), .events = POLLIN, .revents = 0},
                                 {.fd = ear.readable(), .events = POLLIN, .revents = 0},
                                 {.fd = database_->processes().readable(), .events = POLLIN, .revents = 0}}};
  ::poll(sources.data(), sources.size(), static_cast<int>(pause.count()));
  wakes_.clear();
  if (ear.readable() >= 0)
    ear.clear();
}

} // namespace troupe::cluster_directories
