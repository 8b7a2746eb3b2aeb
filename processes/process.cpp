#include "process.hpp"

#include <array>
#include <cerrno>
#include <iostream>
#include <system_error>
#include <thread>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace troupe::processes {

namespace {

using std::chrono::milliseconds;

std::unexpected<std::string> cannot_fork(int error) {
  return std::unexpected{"cannot fork: " + std::generic_category().message(error)};
}

/// A channel that uses one socket in both directions; without socket, a channel without peer.
line_channel channel_of(descriptor socket) {
  descriptor other{socket ? ::fcntl(socket.number(), F_DUPFD_CLOEXEC, 0) : -1};
  return {std::move(socket), std::move(other)};
}

} // namespace

std::expected<process, std::string> process::start(const start_options& options, milliseconds at_destruction) {
  auto running = start_program(options);
  if (!running)
    return std::unexpected{std::move(running).error()};
  return process{running->number, {std::move(running->input), std::move(running->output)}, at_destruction};
}

std::expected<process, std::string> process::fork_with(std::move_only_function<int(line_channel&)> work,
                                                       bool is_spoken_with) {
  int ends[2] = {-1, -1};
  if (is_spoken_with && ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return cannot_fork(errno);
  descriptor ours{ends[0]}, theirs{ends[1]};
  std::cout.flush(); // Otherwise the child prints the buffer again.
  const auto parent = ::getpid();
  const auto number = ::fork();
  if (number == 0) {
    die_with(parent, SIGKILL);
    ours.close();
    auto channel = channel_of(std::move(theirs));
    const auto code = [&]() noexcept { // An exception must not continue in the parent's code.
      return std::exchange(work, nullptr)(channel);
    }();
    std::cout.flush();
    std::cerr.flush();
    ::_exit(code);
  }
  if (number < 0)
    return cannot_fork(errno);
  return process{number, channel_of(std::move(ours)), milliseconds::zero()};
}

process::process(pid_t number, line_channel channel, milliseconds at_destruction)
    : number_(number),
      watch_(static_cast<int>(::syscall(SYS_pidfd_open, number, 0))),
      channel_(std::move(channel)),
      at_destruction_(at_destruction) {}

process::process(process&& other) noexcept
    : number_(std::exchange(other.number_, -1)),
      watch_(std::move(other.watch_)),
      channel_(std::move(other.channel_)),
      at_destruction_(other.at_destruction_),
      ending_(other.ending_) {}

process& process::operator=(process&& other) noexcept {
  std::swap(number_, other.number_);
  std::swap(watch_, other.watch_);
  std::swap(channel_, other.channel_);
  std::swap(at_destruction_, other.at_destruction_);
  std::swap(ending_, other.ending_);
  return *this;
}

process::~process() {
  if (number_ > 0)
    end(at_destruction_);
}

bool process::has_ended() {
  if (ending_)
    return true;
  int status = 0;
  const auto waited = ::waitpid(number_, &status, WNOHANG);
  if (waited == number_ || (waited < 0 && errno == ECHILD)) // ECHILD: SIGCHLD is ignored, so the status is lost.
    ending_ = ending_of(status);
  return ending_.has_value();
}

void process::wait_for_something(int patience_ms) {
  std::array<pollfd, 2> waited_for{pollfd{.fd = watch_.number(), .events = POLLIN, .revents = 0},
                                   pollfd{.fd = channel_.readable(), .events = POLLIN, .revents = 0}};
  // No descriptor was left for the watch: check for the end every millisecond.
  ::poll(waited_for.data(), waited_for.size(), watch_ ? patience_ms : 1);
  if (waited_for[1].revents != 0)
    channel_.receive();
}

std::optional<ending> process::ended_within(time_limit patience) {
  for (const deadline until{patience}; !has_ended(); wait_for_something(until.left_for_poll()))
    if (until.has_passed())
      break;
  return ending_;
}

ending process::end(milliseconds patience) {
  channel_.end_writing();
  const auto ended = ended_within(patience);
  return ended ? *ended : kill();
}

ending process::kill() {
  signal(SIGKILL);
  return wait();
}

void process::signal(int which) {
  if (!has_ended())
    ::kill(number_, which);
}

void process::signal_group(int which) {
  if (!has_ended())
    ::kill(-number_, which);
}

bool process::is_stopped_within(milliseconds patience) {
  for (const deadline until{patience}; !ending_; std::this_thread::sleep_for(milliseconds{1})) {
    int status = 0;
    if (::waitpid(number_, &status, WUNTRACED | WNOHANG) == number_) {
      if (WIFSTOPPED(status))
        return true;
      ending_ = ending_of(status);
    } else if (until.has_passed()) {
      break;
    }
  }
  return false;
}

bool process::stop(milliseconds patience) {
  signal(SIGSTOP);
  return is_stopped_within(patience);
}

} // namespace troupe::processes
