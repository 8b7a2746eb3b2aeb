#include <troupe/framework/cluster/internal/membership/registrar.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace troupe::membership {

namespace {

// If the entry changes that often between two requests, others fight for it.
constexpr int tries_max = 8;
constexpr std::chrono::milliseconds again_pause{50};

} // namespace

registrar::registrar(std::shared_ptr<directory> where, exclusive_entry exclusive, std::chrono::milliseconds spread)
    : where_(std::move(where)),
      exclusive_key_(std::move(exclusive.key)),
      is_left_over_(std::move(exclusive.is_left_over)),
      spread_(spread),
      exclusive_{.value = std::move(exclusive.value)} {
  thread_ = std::thread{[this] { run(); }};
}

registrar::~registrar() {
  {
    const std::lock_guard guard{mutex_};
    ends_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void registrar::use_lease(std::uint64_t lease) {
  const std::lock_guard guard{mutex_};
  if (lease == lease_)
    return;
  const auto was_registered = exclusive_.lease != 0;
  lease_ = lease;
  retry_.reset();
  not_before_ = std::chrono::steady_clock::now();
  if (was_registered && spread_.count() > 0)
    not_before_ += std::chrono::milliseconds{
        std::uniform_int_distribution<std::int64_t>{0, static_cast<std::int64_t>(spread_.count())}(random_)};
  changed_.notify_all();
}

void registrar::set_exclusive(std::string value) {
  const std::lock_guard guard{mutex_};
  if (exclusive_.value == value)
    return;
  exclusive_ = {.value = std::move(value), .lease = 0};
  changed_.notify_all();
}

void registrar::set(std::string key, std::string value) {
  const std::lock_guard guard{mutex_};
  removed_.erase(key);
  auto& one = others_[std::move(key)];
  if (one.lease != 0 && one.value == value)
    return;
  one = {.value = std::move(value), .lease = 0};
  changed_.notify_all();
}

void registrar::remove(const std::string& key) {
  const std::lock_guard guard{mutex_};
  if (others_.erase(key) == 0)
    return;
  removed_.insert(key);
  changed_.notify_all();
}

void registrar::write_again(const std::string& key) {
  const std::lock_guard guard{mutex_};
  if (key == exclusive_key_) {
    exclusive_.lease = 0;
    for (auto& [name, one] : others_)
      one.lease = 0;
  } else if (const auto found = others_.find(key); found != others_.end()) {
    found->second.lease = 0;
  } else {
    return;
  }
  // If another client removes the entry again and again, this pause bounds the rate of writes.
  not_before_ = std::max(not_before_, std::chrono::steady_clock::now() + again_pause);
  changed_.notify_all();
}

std::expected<void, directory_error> registrar::settle(std::chrono::steady_clock::time_point until) {
  std::unique_lock guard{mutex_};
  if (changed_.wait_until(guard, until, [this] { return is_settled() || ends_; }) && is_settled())
    return {};
  if (trouble_)
    return std::unexpected{*trouble_};
  return std::unexpected{directory_error{directory_errc::unavailable,
                                         "the directory at " + where_->shown_address() + " has not answered in time"}};
}

std::optional<directory_error> registrar::trouble() const {
  const std::lock_guard guard{mutex_};
  return trouble_;
}

bool registrar::is_settled() const {
  return lease_ != 0 && exclusive_.lease == lease_ && removed_.empty()
         && std::ranges::all_of(others_, [this](const auto& one) { return one.second.lease == lease_; });
}

bool registrar::has_work() const {
  return lease_ != 0 && !is_settled();
}

void registrar::run() {
  std::unique_lock guard{mutex_};
  while (!ends_) {
    if (!has_work()) {
      changed_.wait(guard);
      continue;
    }
    if (const auto now = std::chrono::steady_clock::now(); now < not_before_) {
      changed_.wait_until(guard, not_before_);
      continue;
    }
    note(exclusive_.lease == lease_ ? write_others(guard) : write_exclusive(guard));
    changed_.notify_all();
  }
}

void registrar::note(const outcome& of) {
  if (of) {
    retry_.reset();
    trouble_.reset();
    return;
  }
  trouble_ = of.error();
  not_before_ = std::chrono::steady_clock::now() + retry_.next();
}

registrar::outcome registrar::write_exclusive(std::unique_lock<std::mutex>& guard) {
  const auto lease = lease_;
  const auto value = exclusive_.value;
  guard.unlock();
  const auto written = put_exclusive(lease, value);
  guard.lock();
  if (!written)
    return std::unexpected{written.error()};
  exclusive_revision_ = *written;
  if (exclusive_.value == value)
    exclusive_.lease = lease;
  return {};
}

std::expected<std::uint64_t, directory_error> registrar::put_exclusive(std::uint64_t lease, const std::string& value) {
  directory_condition condition{.key = exclusive_key_};
  const directory_write write{.key = exclusive_key_, .value = value, .lease = lease};
  std::uint64_t left_over = 0;
  std::uint64_t revision = 0;
  for (auto tries = 0;; ++tries) {
    const auto committed = where_->commit({&condition, 1}, {&write, 1});
    if (!committed)
      return std::unexpected{committed.error()};
    if (committed->is_applied) {
      revision = committed->revision;
      break;
    }
    if (committed->found.empty() && tries < tries_max) { // It was removed a moment ago.
      condition = {.key = exclusive_key_};
      continue;
    }
    if (committed->found.empty())
      return std::unexpected{
          directory_error{directory_errc::unavailable,
                          "the entry " + exclusive_key_ + " in " + where_->shown_address() + " changes all the time"}};
    const auto& found = committed->found.front();
    if (found.lease != lease) {
      if (tries == tries_max || !is_left_over_ || !is_left_over_(found))
        return std::unexpected{
            directory_error{directory_errc::name_taken,
                            "another node has the entry " + exclusive_key_ + " in " + where_->shown_address()}};
      left_over = found.lease;
    }
    condition = {
        .key = exclusive_key_, .what = directory_condition::kind::changed_at, .revision = found.changed_revision};
  }
  if (left_over != 0) [[maybe_unused]]
    const auto revoked = where_->revoke(left_over); // If it fails, that lease ends by itself.
  return revision;
}

registrar::outcome registrar::write_others(std::unique_lock<std::mutex>& guard) {
  const auto lease = lease_;
  std::vector<directory_write> writes;
  for (const auto& key : removed_)
    if (writes.size() < directory::writes_max)
      writes.push_back({.key = key, .what = directory_write::kind::remove});
  for (const auto& [key, one] : others_)
    if (one.lease != lease && writes.size() < directory::writes_max)
      writes.push_back({.key = key, .value = one.value, .lease = lease});
  const directory_condition is_mine{
      .key = exclusive_key_, .what = directory_condition::kind::changed_at, .revision = exclusive_revision_};
  guard.unlock();
  // If another process has taken the exclusive entry over, these keys are that process's.
  const auto committed = where_->commit({&is_mine, 1}, writes);
  guard.lock();
  if (!committed)
    return std::unexpected{committed.error()};
  if (!committed->is_applied) {
    exclusive_.lease = 0;
    return {};
  }
  for (const auto& write : writes) {
    if (write.what == directory_write::kind::remove) {
      if (!others_.contains(write.key))
        removed_.erase(write.key);
    } else if (const auto found = others_.find(write.key); found == others_.end()) {
      removed_.insert(write.key); // It was removed while it was written.
    } else if (found->second.value == write.value) {
      found->second.lease = lease;
    }
  }
  return {};
}

} // namespace troupe::membership
