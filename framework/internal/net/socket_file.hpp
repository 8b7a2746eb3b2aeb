// The file of a listening unix socket.
#pragma once

#include <chrono>
#include <expected>
#include <functional>
#include <string>
#include <system_error>

#include <sys/types.h>

#include <troupe/framework/internal/net/address.hpp>
#include <troupe/framework/node_errc.hpp>

namespace troupe::internal {

/// Keeps other nodes from making or removing the file at a path, by an exclusive lock on a file beside it, "PATH.lock".
/// The lock file exists only while a process holds the lock or waits for it.
class path_lock {
public:
  path_lock() noexcept = default;
  path_lock(path_lock&& other) noexcept;
  path_lock& operator=(path_lock&&) = delete;
  ~path_lock();

  /// Fails with `bad_address` if the lock file cannot be made or belongs to another user, and with `timed_out`.
  [[nodiscard]] static std::expected<path_lock, node_error> take(const std::string& path,
                                                                 std::chrono::milliseconds patience);

private:
  std::string file_;
  int descriptor_ = -1;
};

/// The file of a socket, while the socket listens. It is made if there is none, or replaces a file without a listener.
/// It is removed only if it is still the same file. A file that another node has made at the path stays.
///
/// Threads: one at a time.
class socket_file {
public:
  socket_file() noexcept = default;
  socket_file(const socket_file&) = delete;
  socket_file& operator=(const socket_file&) = delete;
  ~socket_file() { remove(); }

  /// Binds `socket` to the path with mode 0600 and listens. Fails with `cannot_connect` if another socket listens
  /// there, also if both try at the same time. Fails with `bad_address` if the path holds anything but a socket of this
  /// user, or if the socket cannot be bound. Also fails as path_lock::take() does.
  [[nodiscard]] std::expected<void, node_error> listen(int socket, const address& at, const stream_endpoint& endpoint);

  /// Call it before closing the socket. Does nothing in the child of a fork. Idempotent.
  void remove() noexcept;

private:
  std::string path_; // Empty: nothing to remove.
  dev_t device_ = 0;
  ino_t inode_ = 0; // The open socket keeps this number from being used again.
  pid_t process_ = 0;
};

} // namespace troupe::internal
