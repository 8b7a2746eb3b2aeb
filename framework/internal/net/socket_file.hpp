// The file of a unix socket that listens.
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

/// Keeps other nodes from making or removing the file at a path meanwhile: an exclusive lock on a file beside it,
/// "PATH.lock", which is there only as long as somebody has it or waits for it.
class path_lock {
public:
  path_lock() noexcept = default;
  path_lock(path_lock&& other) noexcept;
  path_lock& operator=(path_lock&&) = delete;
  ~path_lock();

  /// Fails with `bad_address` where the file cannot be made, or belongs to another user, and with `timed_out`.
  [[nodiscard]] static std::expected<path_lock, node_error> take(const std::string& path,
                                                                 std::chrono::milliseconds patience);

private:
  std::string file_;
  int descriptor_ = -1;
};

/// A socket's file, as long as the socket listens. It is made where there was none, or one that nobody listens at any
/// more, and removed only while it is the same file: what another node has made there since stays.
///
/// Threads: one at a time.
class socket_file {
public:
  socket_file() noexcept = default;
  socket_file(const socket_file&) = delete;
  socket_file& operator=(const socket_file&) = delete;
  ~socket_file() { remove(); }

  /// Binds `socket` to the path with mode 0600 and has it listen: of two that do this at once, one fails with
  /// `cannot_connect`, as where somebody listens already. Fails as path_lock does, and with `bad_address`, where
  /// something else than a socket of this user stands there, too.
  [[nodiscard]] std::expected<void, node_error> listen(int socket, const address& at, const stream_endpoint& endpoint);

  /// Before the socket is closed. In the process that has made it only, not in the child of a fork. Idempotent.
  void remove() noexcept;

private:
  std::string path_; // Empty where there is nothing to remove.
  dev_t device_ = 0;
  ino_t inode_ = 0; // The socket keeps it: no other file gets it meanwhile.
  pid_t process_ = 0;
};

} // namespace troupe::internal
