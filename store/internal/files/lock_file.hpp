// Who is alive: a file on which each attached process holds a lock on the byte of its slot, plus one more byte that
// serializes opening and closing.
//
// Why locks of open file descriptions: they end with the process, however it ends, and closing another descriptor of
// the file does not drop them, as it drops POSIX record locks: two copies of this library in one process (say, in two
// plugins) open the same store as two processes do. The price: a forked child has the description, too, and a dead
// parent would seem alive. So what is open is listed, and closed in the child before fork() returns there.
#pragma once

#include <troupe/store/internal/host/clock.hpp>
#include <troupe/store/internal/host/file_identity.hpp>
#include <troupe/store/internal/table/layout.hpp>
#include <troupe/store/store_error.hpp>

#include <chrono>
#include <expected>
#include <filesystem>
#include <optional>

#include <sys/types.h>

namespace troupe::store::internal {

class lock_file {
public:
  /// Opens the file, making it where there is none, and takes the open lock: until unlock_opening() no other process
  /// opens or closes this store. Fails with `busy` naming the process that has it, `denied` or `system_failure`.
  [[nodiscard]] static std::expected<lock_file, store_error> open(const std::filesystem::path& path,
                                                                  std::chrono::milliseconds timeout);

  lock_file(lock_file&& other) noexcept;
  lock_file& operator=(lock_file&&) = delete;
  /// Closes, which drops all locks. Not in a forked child, whose own locks on the file that would drop, and not when
  /// the descriptor is somebody else's by now.
  ~lock_file();

  /// Whether the descriptor still is the lock file. If not, this process has lost its locks and can ask for nobody's:
  /// whoever reaps, sweeps or closes asks first.
  [[nodiscard]] bool is_intact() const { return identity_.is_of(descriptor_); }

  /// Whether the name still is this file's, and not that of a store made after somebody removed this one's files.
  [[nodiscard]] bool is_still_named() const;

  [[nodiscard]] std::expected<void, store_error> lock_opening(std::chrono::milliseconds timeout);
  void unlock_opening();

  /// A process that has only looked at the store calls this: it restores the file's content and time from before this
  /// process took the open lock. The time says since when nobody has used the store. Requires: the open lock is held.
  void leave_as_found() const;

  /// The process that is opening or closing the store, or was the last one to do so; 0 when it has not said. For texts.
  [[nodiscard]] pid_t last_opener() const;

  /// Takes the byte of `slot`. Gives false when another process has it; fails with `system_failure`.
  [[nodiscard]] std::expected<bool, store_error> lock_slot(std::uint32_t slot);
  void unlock_slot(std::uint32_t slot);

  /// Whether another process holds that byte; never true for this process's own. True, too, when the system does not
  /// say: the living must not be taken for dead.
  [[nodiscard]] bool is_locked(std::uint32_t slot) const;

  /// Whether anybody is attached, but for what this lock_file has locked itself. True when the system does not say.
  [[nodiscard]] bool any_attached() const;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

private:
  lock_file(std::filesystem::path path, int descriptor);

  [[nodiscard]] std::expected<void, store_error> check_owner() const;
  void say_who_opens();

  std::filesystem::path path_;
  int descriptor_;
  file_identity identity_;
  std::uint32_t fork_epoch_;
  struct content {
    pid_t opener = 0;
    off_t size = 0;
    timespec changed{};
  };
  content found_; // When the open lock was taken.
};

/// Whether that is there and another user's. Such files are not looked at: anybody may take any name in a directory
/// like /dev/shm.
[[nodiscard]] bool is_of_another_user(const std::filesystem::path& path);

/// A process that holds any lock on that lock file, if there is any; 0 when it is not known which. Never of another
/// user's file. One that cannot be asked counts as locked: the living must not be taken for dead.
[[nodiscard]] std::optional<pid_t> any_lock_on(const std::filesystem::path& path);

} // namespace troupe::store::internal
