#include <troupe/framework/internal/net/socket_file.hpp>

#include <cerrno>
#include <cstring>
#include <optional>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <troupe/framework/internal/words/failing.hpp>

namespace troupe::internal {

namespace {

// A holder needs the lock for a few system calls only.
constexpr std::chrono::seconds patience_to_make{5};
constexpr std::chrono::milliseconds patience_to_remove{100};
constexpr std::chrono::milliseconds pause_between_tries{1};

struct file_identity {
  dev_t device;
  ino_t inode;
  bool operator==(const file_identity&) const = default;
};

/// Identifies the file at the path itself, without following links.
std::optional<file_identity> identity_at(const std::string& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0)
    return std::nullopt;
  return file_identity{status.st_dev, status.st_ino};
}

std::string reason_now() {
  return std::strerror(errno);
}

/// Whether the path holds a socket file without a listener. False for other files, and if this cannot be determined.
bool is_left_behind(const std::string& file, const stream_endpoint& endpoint) {
  struct stat status {};
  if (::lstat(file.c_str(), &status) != 0 || !S_ISSOCK(status.st_mode))
    return false;
  // Non-blocking: a listener whose queue is full is alive.
  auto probe = ::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (probe < 0)
    return false;
  auto connected = ::connect(probe, endpoint.data(), static_cast<socklen_t>(endpoint.size()));
  auto refused = connected != 0 && errno == ECONNREFUSED;
  ::close(probe);
  return refused;
}

/// Says why listening is not possible at a path that is taken, and what to do. Empty if there is a listener or the file
/// is gone.
std::string obstacle_at(const std::string& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0)
    return {}; // Gone meanwhile.
  if (S_ISLNK(status.st_mode))
    return "the path is a symbolic link; remove it, or choose another path";
  if (S_ISDIR(status.st_mode))
    return "the path is a folder; choose a path within it, such as " + path + "/socket";
  if (!S_ISSOCK(status.st_mode))
    return "the path is a file that is not a socket; remove it, or choose another path";
  if (status.st_uid != ::geteuid())
    return "the socket there belongs to user " + std::to_string(status.st_uid)
           + "; choose another path, or have that user remove it";
  return {};
}

bool bind_to(int socket, const stream_endpoint& endpoint) {
  return ::bind(socket, endpoint.data(), static_cast<socklen_t>(endpoint.size())) == 0;
}

} // namespace

// -- path_lock

path_lock::path_lock(path_lock&& other) noexcept
    : file_(std::move(other.file_)), descriptor_(std::exchange(other.descriptor_, -1)) {}

path_lock::~path_lock() {
  if (descriptor_ < 0)
    return;
  ::unlink(file_.c_str()); // Before the lock is released, so that waiting processes see that it is another file.
  ::close(descriptor_);
}

std::expected<path_lock, node_error> path_lock::take(const std::string& path, std::chrono::milliseconds patience) {
  const auto until = std::chrono::steady_clock::now() + patience;
  path_lock result;
  result.file_ = path + ".lock";
  const auto& file = result.file_;
  for (;;) {
    const auto descriptor =
        ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, S_IRUSR | S_IWUSR);
    if (descriptor < 0)
      return fail(node_errc::bad_address,
                  errno == ENOENT ? reason_now() : "the lock file " + file + " cannot be opened: " + reason_now());
    struct stat status {};
    if (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode) || status.st_uid != ::geteuid()) {
      ::close(descriptor);
      return fail(node_errc::bad_address,
                  "the lock file " + file + " belongs to user " + std::to_string(status.st_uid)
                      + " or is no file; use a folder that nobody else may write to, such as /run/user/"
                      + std::to_string(::geteuid()));
    }
    const auto is_taken = ::flock(descriptor, LOCK_EX | LOCK_NB) == 0;
    if (is_taken && identity_at(file) == file_identity{status.st_dev, status.st_ino}) {
      result.descriptor_ = descriptor;
      return result;
    }
    ::close(descriptor); // Held by another process, or just removed.
    if (std::chrono::steady_clock::now() >= until)
      return fail(node_errc::timed_out,
                  "the lock file " + file + " was not free within " + std::to_string(patience.count()) + " ms");
    std::this_thread::sleep_for(pause_between_tries);
  }
}

// -- socket_file

std::expected<void, node_error> socket_file::listen(int socket, const address& at, const stream_endpoint& endpoint) {
  const auto refused = [&](const std::string& why) {
    return fail(node_errc::bad_address, "cannot listen at " + at.text + ": " + why);
  };
  // Until this socket listens, other processes would take its file for one without a listener.
  const auto lock = path_lock::take(at.path, patience_to_make);
  if (!lock)
    return fail(lock.error().code(), "cannot listen at " + at.text + ": " + lock.error().message());
  if (::fchmod(socket, S_IRUSR | S_IWUSR) != 0) // The file inherits this mode, so it is never open to others.
    return refused(reason_now());
  auto is_bound = bind_to(socket, endpoint);
  if (!is_bound && errno == EADDRINUSE) {
    if (const auto obstacle = obstacle_at(at.path); !obstacle.empty())
      return refused(obstacle);
    if (!is_left_behind(at.path, endpoint))
      return fail(node_errc::cannot_connect, "cannot listen at " + at.text + ": the address is already in use");
    ::unlink(at.path.c_str());
    is_bound = bind_to(socket, endpoint);
  }
  if (!is_bound)
    return refused(reason_now());
  const auto made = identity_at(at.path);
  if (!made)
    return refused(reason_now());
  path_ = at.path;
  device_ = made->device;
  inode_ = made->inode;
  process_ = ::getpid();
  if (::listen(socket, SOMAXCONN) != 0)
    return refused(reason_now());
  return {};
}

void socket_file::remove() noexcept {
  const auto path = std::exchange(path_, {});
  if (path.empty() || process_ != ::getpid())
    return;
  try {
    const auto lock = path_lock::take(path, patience_to_remove);
    if (!lock && lock.error().code() == node_errc::timed_out)
      return; // The lock's holder makes a file there, which replaces this one.
    if (identity_at(path) == file_identity{device_, inode_})
      ::unlink(path.c_str());
  } catch (...) { // Out of memory: the next listener at the path removes the file.
    return;
  }
}

} // namespace troupe::internal
