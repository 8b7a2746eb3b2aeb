#include "harness/other_program.hpp"

#include <cerrno>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace bench {

namespace {

constexpr int cannot_start = 127; // As shells say it.

/// In the forked child, where nothing may be allocated any more.
[[noreturn]] void become(const char* program, char** words, other_program::streams what, int socket, int parting,
                         pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, parting);
  if (::getppid() != parent) // It died before.
    ::_exit(cannot_start);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  if (what == other_program::streams::lines) {
    ::dup2(socket, STDIN_FILENO);
    ::dup2(socket, STDOUT_FILENO);
  } else if (what == other_program::streams::none) {
    const auto nowhere = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    for (const auto stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
      ::dup2(nowhere, stream);
  }
  ::close_range(STDERR_FILENO + 1, ~0U, 0);
  ::execv(program, words);
  ::_exit(cannot_start);
}

} // namespace

std::expected<other_program, std::string>
other_program::start(const std::string& program, std::vector<std::string> words, streams what, int parting) {
  if (::access(program.c_str(), X_OK) != 0)
    return std::unexpected{"cannot start " + program + ": " + std::generic_category().message(errno)};
  int ends[2] = {-1, -1};
  if (what == streams::lines && ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return std::unexpected{"cannot start " + program + ": " + std::generic_category().message(errno)};
  std::vector<char*> texts;
  for (auto& word : words)
    texts.push_back(word.data());
  texts.push_back(nullptr);
  const auto parent = ::getpid();
  // fork and not posix_spawn, which knows no way to end the child together with us.
  const auto process = ::fork();
  if (process == 0)
    become(program.c_str(), texts.data(), what, ends[1], parting, parent);
  const auto error = errno;
  if (ends[1] >= 0)
    ::close(ends[1]);
  other_program made{process, ends[0]};
  if (process < 0)
    return std::unexpected{"cannot start " + program + ": " + std::generic_category().message(error)};
  return made;
}

other_program::other_program(other_program&& other) noexcept
    : process_(std::exchange(other.process_, -1)),
      socket_(std::exchange(other.socket_, -1)),
      status_(other.status_),
      received_(std::move(other.received_)) {}

other_program& other_program::operator=(other_program&& other) noexcept {
  std::swap(process_, other.process_);
  std::swap(socket_, other.socket_);
  std::swap(status_, other.status_);
  std::swap(received_, other.received_);
  return *this;
}

other_program::~other_program() {
  if (process_ > 0)
    ::kill(process_, SIGKILL);
  static_cast<void>(wait());
  if (socket_ >= 0)
    ::close(socket_);
}

void other_program::write_line(std::string_view line) {
  const auto text = std::string{line} + '\n';
  // A program that has ended is noticed when it is read from.
  [[maybe_unused]] const auto written = ::send(socket_, text.data(), text.size(), MSG_NOSIGNAL);
}

std::expected<std::string, std::string> other_program::read_line() {
  for (;;) {
    if (const auto line_end = received_.find('\n'); line_end != std::string::npos) {
      auto line = received_.substr(0, line_end);
      received_.erase(0, line_end + 1);
      return line;
    }
    char bytes[4096];
    const auto count = ::recv(socket_, bytes, sizeof bytes, 0);
    if (count == 0 || (count < 0 && errno != EINTR))
      return std::unexpected{received_.empty() ? "the program has ended" : "the program has ended: " + received_};
    if (count > 0)
      received_.append(bytes, static_cast<std::size_t>(count));
  }
}

int other_program::wait() {
  if (process_ > 0)
    while (::waitpid(process_, &status_, 0) < 0 && errno == EINTR)
      continue;
  process_ = -1;
  return WIFSIGNALED(status_) ? -WTERMSIG(status_) : WEXITSTATUS(status_);
}

bool other_program::runs() {
  if (process_ > 0 && ::waitpid(process_, &status_, WNOHANG) == process_)
    process_ = -1;
  return process_ > 0;
}

void other_program::send(int signal) {
  if (runs())
    ::kill(process_, signal);
}

} // namespace bench
