#include "memory_directory.hpp"

#include <utility>

namespace troupe::tests {

class memory_world::watch final : public directory_watch {
public:
  watch(std::shared_ptr<memory_world> world, std::shared_ptr<observer> of)
      : world_(std::move(world)), of_(std::move(of)) {}
  ~watch() override {
    std::unique_lock guard{world_->mutex_};
    world_->observers_.remove(of_);
    world_->changed_.wait(guard, [&] { return !of_->is_in_handler || of_->thread == std::this_thread::get_id(); });
  }

private:
  const std::shared_ptr<memory_world> world_;
  const std::shared_ptr<observer> of_;
};

memory_world::~memory_world() {
  {
    const std::lock_guard guard{mutex_};
    ends_ = true;
  }
  changed_.notify_all();
  teller_.join();
}

void memory_world::fail(std::optional<directory_errc> code) {
  const std::lock_guard guard{mutex_};
  fails_ = code;
  if (code)
    end_watches(*code);
  changed_.notify_all();
}

void memory_world::end_watches(directory_errc code) {
  for (const auto& one : observers_)
    one->end = directory_error{code, "as the test wants"};
}

std::optional<directory_error> memory_world::failure() const {
  if (fails_)
    return directory_error{*fails_, "as the test wants"};
  return std::nullopt;
}

void memory_world::expire(std::uint64_t lease) {
  const std::lock_guard guard{mutex_};
  if (leases_.erase(lease) == 0)
    return;
  std::vector<std::string> gone;
  for (const auto& [key, one] : entries_)
    if (one.lease == lease)
      gone.push_back(key);
  if (!gone.empty())
    ++revision_;
  for (const auto& key : gone)
    remove(key, revision_);
  changed_.notify_all();
}

void memory_world::expire_all() {
  for (const auto lease : leases())
    expire(lease);
}

std::vector<std::uint64_t> memory_world::leases() {
  const std::lock_guard guard{mutex_};
  return {leases_.begin(), leases_.end()};
}

std::optional<directory_entry> memory_world::entry(const std::string& key) {
  const std::lock_guard guard{mutex_};
  const auto found = entries_.find(key);
  return found == entries_.end() ? std::nullopt : std::optional{found->second};
}

void memory_world::put(const std::string& key, std::string value, std::uint64_t lease) {
  const std::lock_guard guard{mutex_};
  write({.key = key, .value = std::move(value), .lease = lease}, ++revision_);
  changed_.notify_all();
}

std::uint64_t memory_world::grant() {
  const std::lock_guard guard{mutex_};
  leases_.insert(next_lease_);
  return next_lease_++;
}

void memory_world::compact() {
  const std::lock_guard guard{mutex_};
  compacted_ = revision_;
  log_.clear();
  for (const auto& one : observers_)
    if (one->next <= compacted_)
      one->end = directory_error{directory_errc::compacted, "as the test wants"};
}

std::size_t memory_world::keep_alives() {
  const std::lock_guard guard{mutex_};
  return keep_alives_;
}

void memory_world::write(const directory_write& what, std::uint64_t revision) {
  auto& one = entries_[what.key];
  if (one.created_revision == 0)
    one.created_revision = revision;
  one.key = what.key;
  one.value = what.value;
  one.lease = what.lease;
  one.changed_revision = revision;
  log_.push_back({revision, {.what = directory_change::kind::put, .entry = one}});
}

void memory_world::remove(const std::string& key, std::uint64_t revision) {
  if (entries_.erase(key) > 0)
    log_.push_back(
        {revision, {.what = directory_change::kind::removed, .entry = {.key = key, .changed_revision = revision}}});
}

void memory_world::tell() {
  std::unique_lock guard{mutex_};
  while (!ends_) {
    std::shared_ptr<observer> due;
    for (const auto& one : observers_)
      if (one->end || one->next <= revision_)
        due = one;
    if (!due) {
      changed_.wait(guard);
      continue;
    }
    std::vector<directory_change> changes;
    for (const auto& one : log_)
      if (one.revision >= due->next && one.what.entry.key.starts_with(due->prefix))
        changes.push_back(one.what);
    due->next = revision_ + 1;
    const auto end = due->end;
    if (end)
      observers_.remove(due);
    due->is_in_handler = true;
    due->thread = std::this_thread::get_id();
    const auto at = revision_;
    guard.unlock();
    if (!changes.empty() && !end)
      due->handlers.on_changes(changes, at);
    if (end && due->handlers.on_end)
      due->handlers.on_end(*end);
    guard.lock();
    due->is_in_handler = false;
    changed_.notify_all();
  }
}

std::expected<directory_listing, directory_error> memory_directory::list(std::string_view prefix) {
  const std::lock_guard guard{world_->mutex_};
  if (auto failed = world_->failure())
    return std::unexpected{*std::move(failed)};
  directory_listing all{.revision = world_->revision_, .entries = {}};
  for (const auto& [key, one] : world_->entries_)
    if (key.starts_with(prefix))
      all.entries.push_back(one);
  return all;
}

std::expected<directory_lease, directory_error> memory_directory::grant(std::chrono::milliseconds time) {
  {
    const std::lock_guard guard{world_->mutex_};
    if (auto failed = world_->failure())
      return std::unexpected{*std::move(failed)};
    time_ = time;
  }
  return directory_lease{.id = world_->grant(), .time = time};
}

std::expected<std::chrono::milliseconds, directory_error> memory_directory::keep_alive(std::uint64_t lease) {
  const std::lock_guard guard{world_->mutex_};
  ++world_->keep_alives_;
  if (auto failed = world_->failure())
    return std::unexpected{*std::move(failed)};
  if (!world_->leases_.contains(lease))
    return std::unexpected{directory_error{directory_errc::lease_gone, "lease " + std::to_string(lease) + " is gone"}};
  return time_;
}

std::expected<void, directory_error> memory_directory::revoke(std::uint64_t lease) {
  {
    const std::lock_guard guard{world_->mutex_};
    if (auto failed = world_->failure())
      return std::unexpected{*std::move(failed)};
  }
  world_->expire(lease);
  return {};
}

std::expected<directory_commit, directory_error>
memory_directory::commit(std::span<const directory_condition> conditions, std::span<const directory_write> writes) {
  const std::lock_guard guard{world_->mutex_};
  if (auto failed = world_->failure())
    return std::unexpected{*std::move(failed)};
  directory_commit done{.is_applied = true, .revision = world_->revision_, .found = {}};
  for (const auto& one : conditions) {
    const auto found = world_->entries_.find(one.key);
    const auto is_there = found != world_->entries_.end();
    if (is_there)
      done.found.push_back(found->second);
    using enum directory_condition::kind;
    done.is_applied = done.is_applied
                      && (one.what == absent       ? !is_there
                          : one.what == created_at ? is_there && found->second.created_revision == one.revision
                                                   : is_there && found->second.changed_revision == one.revision);
  }
  if (!done.is_applied)
    return done;
  for (const auto& one : writes)
    if (one.what == directory_write::kind::put && one.lease != 0 && !world_->leases_.contains(one.lease))
      return std::unexpected{directory_error{directory_errc::lease_gone, "the lease is gone"}};
  done.found.clear();
  done.revision = ++world_->revision_;
  for (const auto& one : writes)
    if (one.what == directory_write::kind::put)
      world_->write(one, done.revision);
    else
      world_->remove(one.key, done.revision);
  world_->changed_.notify_all();
  return done;
}

std::expected<std::unique_ptr<directory_watch>, directory_error>
memory_directory::watch(std::string_view prefix, std::uint64_t first_revision, directory_watch_handlers handlers) {
  const std::lock_guard guard{world_->mutex_};
  if (auto failed = world_->failure())
    return std::unexpected{*std::move(failed)};
  if (first_revision <= world_->compacted_)
    return std::unexpected{directory_error{directory_errc::compacted, "it is compacted"}};
  auto made = std::make_shared<memory_world::observer>();
  made->prefix = prefix;
  made->next = first_revision;
  made->handlers = std::move(handlers);
  world_->observers_.push_back(made);
  world_->changed_.notify_all();
  return std::make_unique<memory_world::watch>(world_, std::move(made));
}

} // namespace troupe::tests
