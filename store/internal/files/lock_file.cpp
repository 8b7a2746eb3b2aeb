#include <troupe/store/internal/files/lock_file.hpp>

#include <troupe/store/internal/host/clock.hpp>
#include <troupe/store/internal/host/fork_epoch.hpp>
#include <troupe/store/internal/host/system_error.hpp>

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <mutex>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace troupe::store::internal {

namespace {

// These are the same in every layout version, so that each version can tell whether another one is in use.
constexpr off_t opening_byte = 65536;
constexpr off_t slot_bytes = 65536;

[[nodiscard]] struct flock range(short type, off_t start, off_t length) {
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = start;
  lock.l_len = length;
  return lock;
}

// Cleared at the first lock, if the kernel has no locks of open file descriptions.
std::atomic<bool> has_descriptions{true};

/// Calls fcntl with the command for locks of open file descriptions. On a kernel without them, calls it with the
/// command for record locks; then two copies of this library in one process must not have the same store open.
[[nodiscard]] int lock_call(int descriptor, int command, struct flock& lock) {
  auto status = 0;
  do
    status = ::fcntl(descriptor, has_descriptions ? command : (command == F_OFD_SETLK ? F_SETLK : F_GETLK), &lock);
  while (status != 0 && (errno == EINTR || (errno == EINVAL && has_descriptions.exchange(false))));
  return status;
}

/// Returns false if another owner has that byte.
[[nodiscard]] std::expected<bool, store_error> set_lock(int descriptor, short type, off_t byte,
                                                        const std::filesystem::path& path) {
  auto lock = range(type, byte, 1);
  if (lock_call(descriptor, F_OFD_SETLK, lock) == 0)
    return true;
  if (errno == EACCES || errno == EAGAIN) // POSIX allows both if another owner has the byte.
    return false;
  return std::unexpected(
      store_error{store_errc::system_failure, "locking " + path.string() + " failed: " + std::strerror(errno)});
}

/// The first byte of that range that another owner has locked. A failed call counts as a lock on the first byte,
/// because a living process must not be taken for dead.
struct found_lock {
  off_t at;
  pid_t owner; // 0: an open file description, or a process of another pid namespace.
};
[[nodiscard]] std::optional<found_lock> find_lock(int descriptor, off_t start, off_t length) {
  auto lock = range(F_WRLCK, start, length);
  if (lock_call(descriptor, F_OFD_GETLK, lock) != 0)
    return found_lock{start, 0};
  if (lock.l_type == F_UNLCK)
    return std::nullopt;
  return found_lock{lock.l_start, std::max<pid_t>(lock.l_pid, 0)};
}

// --- Open descriptors, which a forked child closes -------------------------------------------------------------------

struct open_descriptors {
  std::mutex mutex; // Held while a file is opened, and while this process forks.
  std::vector<std::pair<int, file_identity>> all;
};

// Never destroyed, since handles may outlive main.
open_descriptors& descriptors() {
  static auto* const kept = new open_descriptors;
  return *kept;
}

void lock_descriptors() {
  descriptors().mutex.lock();
}

void unlock_descriptors() {
  descriptors().mutex.unlock();
}

void close_descriptors() {
  auto& open = descriptors();
  for (const auto& [descriptor, identity] : open.all)
    if (identity.is_of(descriptor))
      ::close(descriptor);
  open.all.clear();
  open.mutex.unlock();
}

/// Opens a lock file, and lists it before any thread can fork. Returns -1 and sets errno as open() does.
[[nodiscard]] int open_listed(const std::filesystem::path& path) {
  static const auto watching = pthread_atfork(lock_descriptors, unlock_descriptors, close_descriptors);
  (void)watching;
  const auto alone = std::lock_guard{descriptors().mutex};
  descriptors().all.reserve(descriptors().all.size() + 1);
  const auto descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (descriptor >= 0)
    descriptors().all.emplace_back(descriptor, file_identity(descriptor));
  return descriptor;
}

/// Removes a descriptor from the list, and closes it unless it now belongs to another file.
void close_listed(int descriptor, const file_identity& identity) {
  const auto alone = std::lock_guard{descriptors().mutex};
  std::erase(descriptors().all, std::pair{descriptor, identity});
  if (identity.is_of(descriptor))
    ::close(descriptor);
}

[[nodiscard]] bool is_listed(const file_identity& identity) {
  const auto alone = std::lock_guard{descriptors().mutex};
  return std::ranges::count(descriptors().all, identity, &std::pair<int, file_identity>::second) > 0;
}

/// The process in that slot of the lock file's store; 0 if the store has another layout.
[[nodiscard]] pid_t process_in_slot(const std::filesystem::path& lock, off_t slot) {
  auto name = lock.string();
  name.replace(name.size() - std::string_view{"lock"}.size(), std::string_view::npos, "control");
  const auto descriptor = ::open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (descriptor < 0)
    return 0;
  auto version = std::uint32_t{0};
  auto pid = std::uint32_t{0};
  const auto at = static_cast<off_t>(offsetof(control_header, slots) + offsetof(process_slot, pid))
                  + slot * static_cast<off_t>(sizeof(process_slot));
  const auto is_known =
      ::pread(descriptor, &version, sizeof(version), offsetof(control_header, version)) == sizeof(version)
      && version == layout_version && ::pread(descriptor, &pid, sizeof(pid), at) == sizeof(pid);
  ::close(descriptor);
  return is_known ? static_cast<pid_t>(pid) : 0;
}

/// The process that is opening the store, or did so last.
[[nodiscard]] pid_t read_opener(int descriptor) {
  auto pid = std::uint32_t{0};
  return ::pread(descriptor, &pid, sizeof(pid), 0) == sizeof(pid) ? static_cast<pid_t>(pid) : 0;
}

} // namespace

std::expected<lock_file, store_error> lock_file::open(const std::filesystem::path& path,
                                                      std::chrono::milliseconds timeout) {
  for (;;) {
    const auto descriptor = open_listed(path);
    if (descriptor < 0)
      return std::unexpected(system_failure("open", path));
    auto file = lock_file{path, descriptor};
    if (auto owned = file.check_owner(); !owned)
      return std::unexpected(owned.error());
    if (auto locked = file.lock_opening(timeout); !locked)
      return std::unexpected(locked.error());
    if (file.is_still_named()) // Otherwise the last process closed the store meanwhile, and the name belongs to another
                               // file.
      return file;
  }
}

lock_file::lock_file(std::filesystem::path path, int descriptor)
    : path_(std::move(path)), descriptor_(descriptor), identity_(descriptor), fork_epoch_(current_fork_epoch()) {}

lock_file::lock_file(lock_file&& other) noexcept
    : path_(std::move(other.path_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      identity_(other.identity_),
      fork_epoch_(other.fork_epoch_),
      found_(other.found_) {}

lock_file::~lock_file() {
  if (descriptor_ >= 0 && fork_epoch_ == current_fork_epoch())
    close_listed(descriptor_, identity_);
}

std::expected<void, store_error> lock_file::lock_opening(std::chrono::milliseconds timeout) {
  const auto until = deadline(timeout);
  for (;;) {
    const auto locked = set_lock(descriptor_, F_WRLCK, opening_byte, path_);
    if (!locked)
      return std::unexpected(locked.error());
    if (*locked) {
      say_who_opens();
      return {};
    }
    if (until.passed())
      return std::unexpected(store_error{store_errc::busy, "process " + std::to_string(last_opener())
                                                               + " has been opening or closing " + path_.string()
                                                               + " for more than " + std::to_string(timeout.count())
                                                               + " ms; is it stopped?"});
    std::this_thread::sleep_for(std::chrono::microseconds{500});
  }
}

void lock_file::unlock_opening() {
  (void)set_lock(descriptor_, F_UNLCK, opening_byte, path_);
}

std::expected<bool, store_error> lock_file::lock_slot(std::uint32_t slot) {
  return set_lock(descriptor_, F_WRLCK, static_cast<off_t>(slot), path_);
}

void lock_file::unlock_slot(std::uint32_t slot) {
  (void)set_lock(descriptor_, F_UNLCK, static_cast<off_t>(slot), path_);
}

bool lock_file::is_locked(std::uint32_t slot) const {
  return find_lock(descriptor_, static_cast<off_t>(slot), 1).has_value();
}

bool lock_file::any_attached() const {
  return find_lock(descriptor_, 0, slot_bytes).has_value();
}

pid_t lock_file::last_opener() const {
  return read_opener(descriptor_);
}

/// Used only for error texts, so a full file system does not prevent opening.
void lock_file::say_who_opens() {
  struct stat status {};
  (void)::fstat(descriptor_, &status);
  found_ = {read_opener(descriptor_), status.st_size, status.st_mtim};
  const auto pid = static_cast<std::uint32_t>(::getpid());
  if (file_bytes_max() >= sizeof(pid)) // Otherwise a signal would end the process.
    (void)!::pwrite(descriptor_, &pid, sizeof(pid), 0);
}

void lock_file::leave_as_found() const {
  const auto pid = static_cast<std::uint32_t>(found_.opener);
  if (file_bytes_max() >= sizeof(pid))
    (void)!::pwrite(descriptor_, &pid, sizeof(pid), 0);
  (void)!::ftruncate(descriptor_, found_.size);
  const auto times = std::array{timespec{.tv_sec = 0, .tv_nsec = UTIME_OMIT}, found_.changed};
  (void)::futimens(descriptor_, times.data());
}

std::expected<void, store_error> lock_file::check_owner() const {
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0)
    return std::unexpected(system_failure("fstat", path_));
  if (!S_ISREG(status.st_mode) || status.st_uid != ::geteuid() || (status.st_mode & 077) != 0)
    return std::unexpected(store_error{store_errc::denied, path_.string() + " belongs to user "
                                                               + std::to_string(status.st_uid)
                                                               + " or is open to others; remove it"});
  return {};
}

bool lock_file::is_still_named() const {
  struct stat named {};
  return is_intact() && ::lstat(path_.c_str(), &named) == 0 && file_identity(named) == identity_;
}

bool is_of_another_user(const std::filesystem::path& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 && status.st_uid != ::geteuid();
}

std::optional<pid_t> any_lock_on(const std::filesystem::path& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) == 0) {
    if (status.st_uid != ::geteuid())
      return std::nullopt;
    if (!has_descriptions && is_listed(file_identity(status)))
      return ::getpid(); // Closing another descriptor would drop this process's own locks.
  }
  const auto descriptor = ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (descriptor < 0 && (errno == ENOENT || errno == EISDIR || errno == ELOOP || errno == ENXIO))
    return std::nullopt; // There is no lock file.
  if (descriptor < 0)
    return 0;
  const auto found = find_lock(descriptor, 0, 0);
  const auto opener = read_opener(descriptor);
  ::close(descriptor);
  if (!found)
    return std::nullopt;
  if (found->owner != 0)
    return found->owner;
  return found->at < slot_bytes ? process_in_slot(path, found->at) : opener;
}

} // namespace troupe::store::internal
