#include <troupe/framework/internal/words/error_stream.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <ctime>
#include <string>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <troupe/base/sizes.hpp>

namespace troupe::internal {

namespace {

static_assert(error_stream::line_bytes_max <= PIPE_BUF);

/// The size of a piece that a terminal with room takes without blocking.
constexpr std::size_t terminal_piece_bytes = 200;

/// Blocks the signals that writing may raise, and discards those raised meanwhile.
class without_signals {
public:
  without_signals() {
    ::sigemptyset(&signals_);
    for (int each : {SIGPIPE, SIGXFSZ, SIGTTOU})
      ::sigaddset(&signals_, each);
    ::sigpending(&pending_before_);
    ::pthread_sigmask(SIG_BLOCK, &signals_, &mask_before_);
  }
  ~without_signals() {
    // A signal that was pending before stays pending. A signal raised by this writing is discarded, because unblocking
    // it would end the process.
    for (int each : {SIGPIPE, SIGXFSZ}) {
      if (::sigismember(&pending_before_, each) == 1)
        continue;
      sigset_t one;
      ::sigemptyset(&one);
      ::sigaddset(&one, each);
      const timespec at_once{};
      while (::sigtimedwait(&one, nullptr, &at_once) < 0 && errno == EINTR)
        continue;
    }
    ::pthread_sigmask(SIG_SETMASK, &mask_before_, nullptr);
  }
  without_signals(const without_signals&) = delete;
  without_signals& operator=(const without_signals&) = delete;

private:
  sigset_t signals_{}, pending_before_{}, mask_before_{};
};

class closing_descriptor {
public:
  explicit closing_descriptor(int descriptor) noexcept : descriptor_(descriptor) {}
  ~closing_descriptor() {
    if (descriptor_ >= 0)
      ::close(descriptor_);
  }
  closing_descriptor(const closing_descriptor&) = delete;
  closing_descriptor& operator=(const closing_descriptor&) = delete;
  [[nodiscard]] int value() const noexcept { return descriptor_; }

private:
  const int descriptor_;
};

template <class Call>
ssize_t without_interruption(Call call) {
  ssize_t done = 0;
  do {
    done = call();
  } while (done < 0 && errno == EINTR);
  return done;
}

/// Writes all of a line to a pipe or nothing. The pipe may be a blocking one, and other processes write to it too, so
/// asking for room first is useless.
ssize_t write_to_pipe(int to, std::string_view bytes) {
  iovec piece{const_cast<char*>(bytes.data()), bytes.size()}; // The kernel only reads.
  const auto written = without_interruption([&] { return ::pwritev2(to, &piece, 1, -1, RWF_NOWAIT); });
  if (written >= 0 || (errno != EOPNOTSUPP && errno != ENOSYS && errno != EINVAL && errno != EPERM))
    return written;
  // For kernels before 6.4: splice from another pipe can be told not to wait.
  int own[2];
  if (::pipe2(own, O_CLOEXEC | O_NONBLOCK) != 0)
    return -1;
  const closing_descriptor out{own[0]}, in{own[1]};
  if (::write(in.value(), bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size()))
    return -1;
  return without_interruption(
      [&] { return ::splice(out.value(), nullptr, to, nullptr, bytes.size(), SPLICE_F_NONBLOCK); });
}

/// Opens the terminal again, so that the non-blocking mode affects no other process. If that is not permitted (the
/// terminal belongs to the logged-in user), asks for room before each piece.
ssize_t write_to_terminal(int to, std::string_view bytes) {
  const auto path = "/proc/self/fd/" + std::to_string(to);
  const closing_descriptor again{::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)};
  if (again.value() >= 0)
    return without_interruption([&] { return ::write(again.value(), bytes.data(), bytes.size()); });
  std::size_t written = 0;
  for (pollfd room{.fd = to, .events = POLLOUT, .revents = 0};
       written < bytes.size() && ::poll(&room, 1, 0) == 1 && (room.revents & POLLOUT) != 0;) {
    const auto piece = bytes.substr(written, terminal_piece_bytes);
    const auto taken = without_interruption([&] { return ::write(to, piece.data(), piece.size()); });
    if (taken <= 0)
      break;
    written += static_cast<std::size_t>(taken);
  }
  return written > 0 ? static_cast<ssize_t>(written) : -1;
}

/// Returns the number of bytes written at once; negative if none.
ssize_t write_now(int to, std::string_view bytes) {
  struct stat status {};
  if (::fstat(to, &status) != 0)
    return -1;
  if (S_ISFIFO(status.st_mode))
    return write_to_pipe(to, bytes);
  if (S_ISSOCK(status.st_mode))
    return without_interruption([&] { return ::send(to, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL); });
  if (S_ISCHR(status.st_mode) && ::isatty(to) == 1)
    return write_to_terminal(to, bytes);
  return without_interruption([&] { return ::write(to, bytes.data(), bytes.size()); }); // A file does not block on a
                                                                                        // reader.
}

} // namespace

void error_stream::write(std::string_view line) noexcept {
  const std::lock_guard guard{mutex_};
  const without_signals quiet;
  try {
    std::string text{line.substr(0, line_bytes_max - 1)};
    text += '\n';
    if (!write_rest()) {
      ++left_out_;
      return;
    }
    if (left_out_ > 0) {
      if (!write_all("troupe warning: " + grouped(left_out_) + (left_out_ == 1 ? " line was" : " lines were")
                     + " left out here: standard error was blocked\n")) {
        ++left_out_;
        return;
      }
      left_out_ = 0;
    }
    if (!write_all(text))
      ++left_out_;
  } catch (...) { // Out of memory.
    ++left_out_;
  }
}

/// Returns false if nothing was written. If a line was written partly, its rest comes before the next line.
bool error_stream::write_all(std::string_view bytes) {
  const auto taken = write_now(descriptor_, bytes);
  if (taken <= 0)
    return false;
  rest_ = bytes.substr(std::min(static_cast<std::size_t>(taken), bytes.size()));
  return true;
}

/// Returns false while something is left.
bool error_stream::write_rest() {
  if (rest_.empty())
    return true;
  const auto before = std::exchange(rest_, {});
  if (!write_all(before))
    rest_ = before;
  return rest_.empty();
}

void error_stream::forked(bool is_child) {
  if (is_child)
    rest_.clear();
  mutex_.unlock();
}

std::uint64_t error_stream::left_out() const {
  const std::lock_guard guard{mutex_};
  return left_out_;
}

} // namespace troupe::internal
