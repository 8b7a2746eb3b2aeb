#include <troupe/framework/cluster/internal/membership/lease_keeper.hpp>

#include <algorithm>
#include <utility>

namespace troupe::membership {

using namespace std::chrono_literals;

lease_keeper::lease_keeper(std::shared_ptr<directory> where, std::chrono::milliseconds time, change_handler on_change)
    : where_(std::move(where)), time_(time), on_change_(std::move(on_change)) {
  thread_ = std::thread{[this] { run(); }};
}

lease_keeper::~lease_keeper() {
  {
    const std::lock_guard guard{mutex_};
    ends_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

held_lease lease_keeper::current() const {
  const std::lock_guard guard{word_->mutex};
  return word_->held;
}

std::function<held_lease()> lease_keeper::reader() const {
  return [word = word_] {
    const std::lock_guard guard{word->mutex};
    return word->held;
  };
}

std::optional<directory_error> lease_keeper::trouble() const {
  const std::lock_guard guard{mutex_};
  return trouble_;
}

void lease_keeper::run() {
  for (;;) {
    const auto held = current();
    if (held.id == 0)
      grant();
    else
      keep_alive(held);
    tell_if_changed();
    const auto now_held = current();
    std::unique_lock guard{mutex_};
    // An unsure lease is told when it becomes so, which may be before the next request.
    auto wait = pause_;
    if (now_held.id != 0 && told_sure_)
      wait = std::min(wait, std::chrono::ceil<std::chrono::milliseconds>(
                                std::max<boot_clock::duration>(now_held.sure_until - boot_clock::now(), 0ns)));
    changed_.wait_for(guard, wait, [this] { return ends_; });
    if (ends_)
      break;
  }
  const auto held = current();
  {
    const std::lock_guard guard{word_->mutex};
    word_->held = {}; // Before another process may get what stands under it.
  }
  if (held.id != 0) {
    [[maybe_unused]] const auto revoked = where_->revoke(held.id); // If it fails, the lease ends by itself.
  }
}

void lease_keeper::grant() {
  const auto sent = boot_clock::now();
  auto granted = where_->grant(time_);
  if (!granted)
    return note({}, std::move(granted).error());
  note({.id = granted->id, .sure_until = sent + granted->time}, std::nullopt);
}

void lease_keeper::keep_alive(const held_lease& held) {
  const auto sent = boot_clock::now();
  auto kept = where_->keep_alive(held.id);
  if (kept)
    return note({.id = held.id, .sure_until = sent + *kept}, std::nullopt);
  if (kept.error().code() == directory_errc::lease_gone)
    return note({}, std::move(kept).error());
  note(held, std::move(kept).error());
}

void lease_keeper::note(held_lease now, std::optional<directory_error> trouble) {
  const auto is_gone = trouble && trouble->code() == directory_errc::lease_gone;
  if (!trouble || is_gone)
    retry_.reset();
  pause_ = is_gone ? 0ms : trouble ? retry_.next() : time_ / 3;
  {
    const std::lock_guard guard{word_->mutex};
    word_->held = now;
  }
  const std::lock_guard guard{mutex_};
  trouble_ = std::move(trouble);
}

void lease_keeper::tell_if_changed() {
  const auto held = current();
  const auto now = trouble();
  const auto is_sure = held.is_sure(boot_clock::now());
  if (held.id == told_id_ && is_sure == told_sure_ && now.has_value() == told_trouble_)
    return;
  told_id_ = held.id;
  told_sure_ = is_sure;
  told_trouble_ = now.has_value();
  on_change_(held, now);
}

} // namespace troupe::membership
