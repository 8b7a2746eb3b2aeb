// Liveness of processes: a file on which each attached process locks the byte of its slot, plus one more byte that
// serializes opening and closing.
//
// These are locks of open file descriptions. They end with the process, however it ends. Unlike POSIX record locks,
// they survive the closing of another descriptor of the file, so two copies of this library in one process (say, in two
// plugins) can open the same store as two processes do. The cost: a forked child inherits the description, so that a
// dead parent would seem alive. So open descriptors are listed, and closed in the child before fork() returns there.
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
  /// Opens the file, making it if needed, and takes the open lock: until unlock_opening() no other process opens or
  /// closes this store. Fails with `busy`, naming the process that has the lock, `denied` or `system_failure`.
  [[nodiscard]] static std::expected<lock_file, store_error> open(const std::filesystem::path& path,
                                                                  std::chrono::milliseconds timeout);

  lock_file(lock_file&& other) noexcept;
  lock_file& operator=(lock_file&&) = delete;
  /// Closes the file, which drops all locks. Does not close it in a forked child, where that would drop the child's own
  /// locks on the file, nor if the descriptor belongs to another file by now.
  ~lock_file();

  /// Whether the descriptor still is the lock file. If not, this process has lost its locks and cannot query those of
  /// others: check this before reaping, sweeping or closing.
  [[nodiscard]] bool is_intact() const { return identity_.is_of(descriptor_); }

  /// Whether the name still belongs to this file, and not to a store made after this one's files were removed.
  [[nodiscard]] bool is_still_named() const;

  [[nodiscard]] std::expected<void, store_error> lock_opening(std::chrono::milliseconds timeout);
  void unlock_opening();

  /// Restores the file's content and time from before this process took the open lock; for a process that has only
  /// looked at the store. The time tells since when no process has used the store. Requires: the open lock is held.
  void leave_as_found() const;

  /// The process that is opening or closing the store, or was the last one to do so; 0 if unknown. For error texts.
  [[nodiscard]] pid_t last_opener() const;

  /// Locks the byte of `slot`. Returns false if another process has it. Fails with `system_failure`.
  [[nodiscard]] std::expected<bool, store_error> lock_slot(std::uint32_t slot);
  void unlock_slot(std::uint32_t slot);

  /// Whether another process holds that byte; never true for this process's own. True if the system does not tell,
  /// since a living process must not be taken for dead.
  [[nodiscard]] bool is_locked(std::uint32_t slot) const;

  /// Whether any process is attached, apart from this lock_file's own locks. True if the system does not tell.
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
  content found_; // As of when the open lock was taken.
};

/// Whether `path` exists and belongs to another user. Such files are ignored, since any user may take any name in a
/// directory like /dev/shm.
[[nodiscard]] bool is_of_another_user(const std::filesystem::path& path);

/// A process that holds any lock on that lock file, or nullopt; 0 if it is not known which process. Ignores another
/// user's file. A file that cannot be queried counts as locked, since a living process must not be taken for dead.
[[nodiscard]] std::optional<pid_t> any_lock_on(const std::filesystem::path& path);

} // namespace troupe::store::internal
