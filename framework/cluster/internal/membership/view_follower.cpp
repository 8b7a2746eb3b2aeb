#include <troupe/framework/cluster/internal/membership/view_follower.hpp>

namespace troupe::membership {

namespace {

// If watches end sooner, the pauses before the next reading grow.
constexpr std::chrono::seconds steady_watch{2};

} // namespace

view_follower::view_follower(std::shared_ptr<directory> where, handler on_events, std::string kept)
    : where_(std::move(where)), on_events_(std::move(on_events)), view_(view_bounds{.kept = std::move(kept)}) {
  thread_ = std::thread{[this] { run(); }};
}

view_follower::~view_follower() {
  {
    const std::lock_guard guard{mutex_};
    ends_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

std::expected<void, directory_error> view_follower::wait_until_read(std::chrono::steady_clock::time_point until) {
  std::unique_lock guard{mutex_};
  if (changed_.wait_until(guard, until, [this] { return was_read_ || ends_; }) && was_read_)
    return {};
  return std::unexpected{trouble_.value_or(directory_error{
      directory_errc::unavailable, "the directory at " + where_->shown_address() + " has not answered in time"})};
}

void view_follower::note_outage(const std::optional<directory_error>& seen) {
  const std::lock_guard told{telling_};
  cluster_view::events events;
  {
    const std::lock_guard guard{mutex_};
    const auto was_away = is_away();
    outage_ = seen;
    if (is_away() != was_away && was_read_)
      events.push_back(seen ? cluster_event{.what = cluster_event::kind::directory_lost, .reason = *seen}
                            : cluster_event{.what = cluster_event::kind::directory_found});
  }
  tell(events);
}

std::optional<directory_error> view_follower::trouble() const {
  const std::lock_guard guard{mutex_};
  return trouble_ ? trouble_ : outage_;
}

bool view_follower::wait_until(const std::function<bool(const cluster_view&)>& is_so,
                               std::chrono::steady_clock::time_point until) {
  std::unique_lock guard{mutex_};
  return changed_.wait_until(guard, until, [&] { return ends_ || is_so(view_); }) && is_so(view_);
}

void view_follower::between_batches(const std::function<void(const cluster_view&)>& call) const {
  const std::lock_guard told{telling_};
  call(view_);
}

void view_follower::run() {
  for (;;) {
    {
      const std::lock_guard guard{mutex_};
      if (ends_)
        return;
    }
    if (const auto revision = read_all()) {
      const auto since = std::chrono::steady_clock::now();
      follow(*revision);
      if (std::chrono::steady_clock::now() - since > steady_watch)
        retry_.reset();
    } else {
      lose(revision.error());
    }
    pause();
  }
}

std::expected<std::uint64_t, directory_error> view_follower::read_all() {
  const auto listed = where_->list("");
  if (!listed)
    return std::unexpected{listed.error()};
  const std::lock_guard told{telling_};
  cluster_view::events events;
  {
    const std::lock_guard guard{mutex_};
    events = view_.reset(listed->entries);
    view_.note_revision(listed->revision);
    was_read_ = true;
    const auto was_away = is_away();
    trouble_.reset();
    if (was_away && !is_away())
      events.push_back({.what = cluster_event::kind::directory_found});
  }
  changed_.notify_all();
  tell(events);
  return listed->revision;
}

/// Returns when the watch has ended.
void view_follower::follow(std::uint64_t revision) {
  {
    const std::lock_guard guard{mutex_};
    watch_end_.reset();
  }
  const auto watch = where_->watch("", revision + 1,
                                   {.on_changes =
                                        [this](std::span<const directory_change> changes, std::uint64_t last) {
                                          const std::lock_guard told{telling_};
                                          cluster_view::events events;
                                          {
                                            const std::lock_guard guard{mutex_};
                                            events = view_.apply(changes);
                                            view_.note_revision(last);
                                          }
                                          changed_.notify_all();
                                          tell(events);
                                        },
                                    .on_end =
                                        [this](const directory_error& why) {
                                          {
                                            const std::lock_guard guard{mutex_};
                                            watch_end_ = why;
                                          }
                                          changed_.notify_all();
                                        }});
  if (!watch) {
    if (watch.error().code() != directory_errc::compacted)
      lose(watch.error());
    return;
  }
  std::unique_lock guard{mutex_};
  changed_.wait(guard, [this] { return ends_ || watch_end_; });
  const auto end = watch_end_;
  guard.unlock();
  if (end && end->code() != directory_errc::compacted)
    lose(*end);
}

/// Under telling_, without which the view does not change.
void view_follower::tell(const cluster_view::events& all) const {
  if (!all.empty())
    on_events_(all, view_);
}

void view_follower::lose(const directory_error& why) {
  auto is_news = false;
  {
    const std::lock_guard told{telling_};
    {
      const std::lock_guard guard{mutex_};
      is_news = !is_away() && was_read_;
      trouble_ = why;
    }
    if (is_news)
      tell({{.what = cluster_event::kind::directory_lost, .reason = why}});
  }
  changed_.notify_all();
}

void view_follower::pause() {
  std::unique_lock guard{mutex_};
  changed_.wait_for(guard, retry_.next(), [this] { return ends_; });
}

} // namespace troupe::membership
