// Liveness of processes: a file on which each attached process locks the byte of its slot, and on which one more byte
// serializes opening and closing.
//
// The locks are locks of open file descriptions. They end with the process, however it ends. Unlike POSIX record locks,
// they survive the closing of another descriptor of the file. Therefore two copies of this library in one process (for
// example in two plugins) can open the same store as two processes do. The cost is that a forked child inherits the
// description, so that a dead parent would seem alive. Therefore open descriptors are listed, and closed in the child
// before fork() returns there.
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
  /// Opens the file, or creates it, and takes the open lock: until unlock_opening() no other process opens or closes
  /// this store. Waits for the lock for `timeout`. Fails with `busy`, naming the process that has the lock, `denied`,
  /// `full` or `system_failure`.
  [[nodiscard]] static std::expected<lock_file, store_error> open(const std::filesystem::path& path,
                                                                  std::chrono::milliseconds timeout);

  lock_file(lock_file&& other) noexcept;
  lock_file& operator=(lock_file&&) = delete;
  /// Closes the file, which drops all locks. Does not close it in a forked child, where that would drop the child's own
  /// locks on the file. Does not close the descriptor either if it now belongs to another file.
  ~lock_file();

  /// Whether the descriptor still belongs to the lock file. If not, this process has lost its locks and cannot query
  /// those of others. Check this before reaping, sweeping or closing.
  [[nodiscard]] bool is_intact() const { return identity_.is_of(descriptor_); }

  /// Whether the name still belongs to this file. Otherwise it belongs to a store that was made after this store's
  /// files were removed.
  [[nodiscard]] bool is_still_named() const;

  [[nodiscard]] std::expected<void, store_error> lock_opening(std::chrono::milliseconds timeout);
  void unlock_opening();

  /// Restores the content and time that the file had before this process took the open lock. For a process that has
  /// only looked at the store: the time tells since when no process has used the store. Requires: the open lock is
  /// held.
  void leave_as_found() const;

  /// The process that is opening or closing the store, or was the last one to do so; 0 if unknown. For error texts.
  [[nodiscard]] pid_t last_opener() const;

  /// Locks the byte of `slot`. Returns false if another process has it. Fails with `system_failure`.
  [[nodiscard]] std::expected<bool, store_error> lock_slot(std::uint32_t slot);
  void unlock_slot(std::uint32_t slot);

  /// Whether another process holds that byte; never true for this process's own byte. True if the system does not tell,
  /// because a living process must not be taken for dead.
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

/// Whether `path` exists and belongs to another user. Such files are ignored, because any user may take any name in a
/// directory like /dev/shm.
[[nodiscard]] bool is_of_another_user(const std::filesystem::path& path);

/// A process that holds any lock on that lock file; 0 if it is not known which process; nullopt if there is none. A
/// file of another user counts as not locked. A file that cannot be queried counts as locked, because a living process
/// must not be taken for dead.
[[nodiscard]] std::optional<pid_t> any_lock_on(const std::filesystem::path& path);

} // namespace troupe::store::internal
