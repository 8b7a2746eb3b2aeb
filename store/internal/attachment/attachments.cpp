#include <troupe/store/internal/attachment/attachments.hpp>

#include <troupe/base/sizes.hpp>
#include <troupe/store/internal/attachment/attachment.hpp>
#include <troupe/store/internal/host/crash_point.hpp>

#include <pthread.h>

#include <condition_variable>
#include <map>
#include <mutex>
#include <string>

namespace troupe::store::internal {

std::atomic<std::uint32_t> fork_epoch{0};

namespace {

/// An entry exists from before a store is opened until the store is closed. While the entry's attachment is null, the
/// store is being opened or closed, and other threads wait.
struct attachment_list {
  std::mutex mutex;
  std::condition_variable changed;
  std::map<std::string, attachment*> entries;
};

// The list is never destroyed, because handles may outlive main. A forked child makes a new list, because the threads
// that wait for the old list's condition do not exist in the child.
attachment_list* list = new attachment_list;

void lock_list() {
  list->mutex.lock();
}

void unlock_list() {
  list->mutex.unlock();
}

void replace_list() {
  fork_epoch.fetch_add(1);
  list->mutex.unlock(); // This thread locked it before the fork.
  list = new attachment_list;
}

void watch_forks() {
  static const auto watching = pthread_atfork(lock_list, unlock_list, replace_list);
  (void)watching;
}

[[nodiscard]] std::string key_of(const std::filesystem::path& directory, const std::string& name) {
  auto failure = std::error_code{};
  return (std::filesystem::weakly_canonical(directory, failure) / name).string();
}

void forget(const std::string& key) {
  const auto lock = std::lock_guard{list->mutex};
  list->entries.erase(key);
  list->changed.notify_all();
}

/// The first option in which the two differ, or an empty text. In `asked`, a capacity_bytes or objects_max of 0 accepts
/// any value.
[[nodiscard]] std::string difference(const options& open, const options& asked) {
  auto text = [](const char* what, const std::string& has, const std::string& wanted) {
    return std::string(what) + " " + has + ", not " + wanted;
  };
  if (asked.capacity_bytes != 0 && asked.capacity_bytes != open.capacity_bytes)
    return text("capacity_bytes", grouped(open.capacity_bytes), grouped(asked.capacity_bytes));
  if (asked.objects_max != 0 && asked.objects_max != open.objects_max)
    return text("objects_max", grouped(open.objects_max), grouped(asked.objects_max));
  if (asked.lock_timeout != open.lock_timeout)
    return text("lock_timeout", std::to_string(open.lock_timeout.count()) + " ms",
                std::to_string(asked.lock_timeout.count()) + " ms");
  if (asked.reap_interval != open.reap_interval)
    return text("reap_interval", std::to_string(open.reap_interval.count()) + " ms",
                std::to_string(asked.reap_interval.count()) + " ms");
  if (asked.full_grace != open.full_grace)
    return text("full_grace", std::to_string(open.full_grace.count()) + " ms",
                std::to_string(asked.full_grace.count()) + " ms");
  if (asked.pretouch_bytes != open.pretouch_bytes)
    return text("pretouch_bytes", grouped(open.pretouch_bytes), grouped(asked.pretouch_bytes));
  if (asked.huge_pages && !open.huge_pages)
    return "no huge_pages";
  if (!asked.spill_directory.empty() && absolute_path(asked.spill_directory) != open.spill_directory)
    return text("spill_directory", quoted(open.spill_directory), quoted(asked.spill_directory));
  return {};
}

[[nodiscard]] std::expected<attachment_ptr, store_error> same_as(attachment_ptr known, options asked) {
  if (asked.must_exist) // must_exist accepts all options.
    return known;
  if (asked.capacity_bytes != 0)
    asked.capacity_bytes = round_up(asked.capacity_bytes, page_bytes);
  if (const auto differs = difference(known->settings(), asked); !differs.empty())
    return std::unexpected(store_error{store_errc::options_differ,
                                       "store \"" + asked.name + "\" is open in this process with " + differs});
  return known;
}

/// Removes an entry that never got an attachment, however attach() ends, because other threads wait for the entry.
class placeholder {
public:
  explicit placeholder(const std::string& key) : key_(key) {}
  placeholder(const placeholder&) = delete;
  placeholder& operator=(const placeholder&) = delete;
  ~placeholder() {
    if (waiting_)
      forget(key_);
  }

  void fulfil() { waiting_ = false; } // From now on detach() removes the entry.

private:
  const std::string& key_;
  bool waiting_ = true;
};

} // namespace

attachment_ptr::attachment_ptr(const attachment_ptr& other) noexcept : to_(other.to_) {
  if (to_ != nullptr)
    to_->keep();
}

attachment_ptr::~attachment_ptr() {
  if (to_ != nullptr)
    to_->let_go();
}

/// Detaches, and only then lets this process open the store again.
void detach(attachment& unused) noexcept {
  if (unused.member().forked()) {
    delete &unused; // NOLINT: it counts its users itself.
    return;
  }
  const auto key = unused.key();
  {
    const auto lock = std::lock_guard{list->mutex};
    list->entries[key] = nullptr; // From here on, attach() waits instead of finding the attachment.
  }
  delete &unused; // NOLINT
  forget(key);
}

std::expected<attachment_ptr, store_error> attach(const options& options) {
  watch_forks();
  arm_crash_points_from_environment();
  const auto key = key_of(options.directory, options.name);
  {
    auto lock = std::unique_lock{list->mutex};
    for (auto found = list->entries.find(key); found != list->entries.end(); found = list->entries.find(key)) {
      if (found->second != nullptr && found->second->try_keep()) {
        auto known = attachment_ptr{*found->second};
        lock.unlock(); // Dropping `known` may need the list.
        return same_as(std::move(known), options);
      }
      list->changed.wait(lock);
    }
    list->entries[key] = nullptr;
  }
  auto waited_for = placeholder(key);
  auto opened = open_store(options);
  if (!opened)
    return std::unexpected(opened.error());
  auto made = attachment_ptr{*new attachment(std::move(*opened), key)};
  waited_for.fulfil();
  (void)made->dead().reap();
  made->begin_background();
  const auto lock = std::lock_guard{list->mutex};
  list->entries[key] = &*made;
  list->changed.notify_all();
  return made;
}

} // namespace troupe::store::internal
