// Who is alive: a file on which each attached process holds a POSIX lock on the byte of its slot, plus one more byte
// that serializes opening and closing.
//
// Why POSIX locks: they end with the process, however it ends, and a forked child does not have them. Open file
// description locks would live on in the child, and a dead parent would seem alive. The price: closing any descriptor
// of this file drops the process's locks, so it is opened once per process and never closed before the end.
#pragma once

#include <troupe/store/internal/clock.hpp>
#include <troupe/store/internal/file_identity.hpp>
#include <troupe/store/internal/layout.hpp>
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

  /// Takes the byte of `slot`. Gives false when another process has it; fails with `system_failure`.
  [[nodiscard]] std::expected<bool, store_error> lock_slot(std::uint32_t slot);
  void unlock_slot(std::uint32_t slot);

  /// Whether another process holds that byte; never true for this process's own. True, too, when the system does not
  /// say: the living must not be taken for dead.
  [[nodiscard]] bool is_locked(std::uint32_t slot) const;

  /// A process other than this one that is attached, if there is any; 0 when the system does not say.
  [[nodiscard]] std::optional<pid_t> any_attached() const;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

private:
  lock_file(std::filesystem::path path, int descriptor);

  [[nodiscard]] std::expected<void, store_error> check_owner() const;

  std::filesystem::path path_;
  int descriptor_;
  file_identity identity_;
  std::uint32_t fork_epoch_;
};

/// For the sweeper of others' leftovers: a process that holds any lock on that file; 0 when the system does not say.
/// Opens and closes it, so it must not be this store's own.
[[nodiscard]] std::optional<pid_t> any_lock_on(const std::filesystem::path& path);

} // namespace troupe::store::internal
