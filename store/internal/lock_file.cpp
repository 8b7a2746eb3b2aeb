#include <troupe/store/internal/lock_file.hpp>

#include <troupe/store/internal/clock.hpp>
#include <troupe/store/internal/fork_epoch.hpp>
#include <troupe/store/internal/system_error.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <thread>
#include <utility>

namespace troupe::store::internal {

namespace {

// Both are the same in every version of the layout, so that versions can tell whether another one is alive.
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

/// Gives false when another process has that byte.
[[nodiscard]] std::expected<bool, store_error> set_lock(int descriptor, short type, off_t byte,
                                                        const std::filesystem::path& path) {
  auto lock = range(type, byte, 1);
  auto status = 0;
  do
    status = ::fcntl(descriptor, F_SETLK, &lock);
  while (status != 0 && errno == EINTR);
  if (status == 0)
    return true;
  if (errno == EACCES || errno == EAGAIN) // What POSIX allows for "another process has it".
    return false;
  return std::unexpected(
      store_error{store_errc::system_failure, "locking " + path.string() + " failed: " + std::strerror(errno)});
}

/// Who keeps us from locking that range for writing. A process of another pid namespace reads as 0; so does a call that
/// failed, since the living must not be taken for dead.
[[nodiscard]] std::optional<pid_t> blocker(int descriptor, off_t start, off_t length) {
  auto lock = range(F_WRLCK, start, length);
  if (::fcntl(descriptor, F_GETLK, &lock) != 0)
    return 0;
  if (lock.l_type == F_UNLCK)
    return std::nullopt;
  return lock.l_pid;
}

} // namespace

std::expected<lock_file, store_error> lock_file::open(const std::filesystem::path& path,
                                                      std::chrono::milliseconds timeout) {
  for (;;) {
    const auto descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (descriptor < 0)
      return std::unexpected(system_failure("open", path));
    auto file = lock_file{path, descriptor};
    if (auto owned = file.check_owner(); !owned)
      return std::unexpected(owned.error());
    if (auto locked = file.lock_opening(timeout); !locked)
      return std::unexpected(locked.error());
    if (file.is_still_named()) // Else the last one closed while we waited, and the name belongs to another file.
      return file;
  }
}

lock_file::lock_file(std::filesystem::path path, int descriptor)
    : path_(std::move(path)), descriptor_(descriptor), identity_(descriptor), fork_epoch_(current_fork_epoch()) {}

lock_file::lock_file(lock_file&& other) noexcept
    : path_(std::move(other.path_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      identity_(other.identity_),
      fork_epoch_(other.fork_epoch_) {}

lock_file::~lock_file() {
  if (descriptor_ >= 0 && fork_epoch_ == current_fork_epoch() && is_intact())
    ::close(descriptor_);
}

std::expected<void, store_error> lock_file::lock_opening(std::chrono::milliseconds timeout) {
  const auto until = deadline(timeout);
  for (;;) {
    const auto locked = set_lock(descriptor_, F_WRLCK, opening_byte, path_);
    if (!locked)
      return std::unexpected(locked.error());
    if (*locked)
      return {};
    if (until.passed()) {
      const auto owner = blocker(descriptor_, opening_byte, 1).value_or(0);
      return std::unexpected(store_error{
          store_errc::busy, "process " + std::to_string(owner) + " has been opening or closing " + path_.string()
                                + " for more than " + std::to_string(timeout.count()) + " ms; is it stopped?"});
    }
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
  return blocker(descriptor_, static_cast<off_t>(slot), 1).has_value();
}

std::optional<pid_t> lock_file::any_attached() const {
  return blocker(descriptor_, 0, slot_bytes);
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

std::optional<pid_t> any_lock_on(const std::filesystem::path& path) {
  const auto descriptor = ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (descriptor < 0 && errno == ENOENT)
    return std::nullopt;
  if (descriptor < 0)
    return 0;
  const auto found = blocker(descriptor, 0, 0);
  ::close(descriptor);
  return found;
}

} // namespace troupe::store::internal
