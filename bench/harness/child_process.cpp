#include "harness/child_process.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <system_error>
#include <thread>
#include <utility>

#include <poll.h>
#include <sched.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace bench {

namespace {

using clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

/// How long a child may take to end by itself when its input has ended.
constexpr milliseconds ending_patience{1000};

std::string end_of(int status) {
  if (WIFSIGNALED(status))
    return "its process was killed by signal " + std::to_string(WTERMSIG(status)) + " (" + ::strsignal(WTERMSIG(status))
           + ")";
  return "its process ended with status " + std::to_string(WEXITSTATUS(status));
}

/// posix_spawn and not fork: a forked child would run our code until it calls exec. Returns an error number.
int spawn_self(pid_t& process, const std::vector<std::string>& arguments, int socket) {
  std::string name = "bench";
  std::vector<char*> texts{name.data()};
  for (const auto& argument : arguments)
    texts.push_back(const_cast<char*>(argument.c_str())); // posix_spawn changes none of them.
  texts.push_back(nullptr);

  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_adddup2(&files, socket, STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&files, socket, STDOUT_FILENO);
  ::posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  sigset_t none;
  ::sigemptyset(&none); // Stop signals are blocked here; a child shall get them.
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  const auto error = ::posix_spawn(&process, "/proc/self/exe", &files, &attributes, texts.data(), environ);
  ::posix_spawn_file_actions_destroy(&files);
  ::posix_spawnattr_destroy(&attributes);
  return error;
}

/// Each process's parent.
std::map<pid_t, pid_t> parents_of_processes() {
  std::map<pid_t, pid_t> found;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator{"/proc", ignored}) {
    const auto name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos)
      continue;
    std::string line;
    std::getline(std::ifstream{entry.path() / "stat"}, line);
    // "PID (NAME) STATE PARENT ...", where the name may have anything in it.
    const auto name_end = line.rfind(") ");
    if (name_end != std::string::npos)
      found[std::stoi(name)] = std::stoi(line.substr(name_end + 4));
  }
  return found;
}

} // namespace

std::expected<child_process, std::string> child_process::start(const std::vector<std::string>& arguments) {
  const auto text_of = [](int error) { return "cannot start a process: " + std::generic_category().message(error); };
  int ends[2] = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return std::unexpected{text_of(errno)};
  pid_t process = -1;
  const auto error = spawn_self(process, arguments, ends[1]);
  ::close(ends[1]);
  if (error != 0) {
    ::close(ends[0]);
    return std::unexpected{text_of(error)};
  }
  return child_process{process, ends[0]};
}

child_process::child_process(child_process&& other) noexcept
    : process_(std::exchange(other.process_, -1)),
      socket_(std::exchange(other.socket_, -1)),
      received_(std::move(other.received_)) {}

child_process& child_process::operator=(child_process&& other) noexcept {
  std::swap(process_, other.process_);
  std::swap(socket_, other.socket_);
  std::swap(received_, other.received_);
  return *this;
}

child_process::~child_process() {
  static_cast<void>(end(ending_patience));
  if (socket_ >= 0)
    ::close(socket_);
}

void child_process::write_line(std::string_view line) {
  const auto text = std::string{line} + '\n';
  // A child that has ended is noticed when it is read from.
  [[maybe_unused]] const auto written = ::send(socket_, text.data(), text.size(), MSG_NOSIGNAL);
}

std::expected<std::string, std::string> child_process::read_line(milliseconds patience, stop_signals& signals,
                                                                 child_process* partner) {
  const auto deadline = clock::now() + patience;
  for (;;) {
    if (const auto line_end = received_.find('\n'); line_end != std::string::npos) {
      auto line = received_.substr(0, line_end);
      received_.erase(0, line_end + 1);
      return line;
    }
    if (const auto signal = signals.came(); signal != 0)
      return std::unexpected{"stopped by signal " + std::to_string(signal)};
    const auto left = std::chrono::ceil<milliseconds>(deadline - clock::now());
    if (left <= milliseconds::zero())
      return std::unexpected{"nothing came within " + std::to_string(patience.count()) + " ms"};
    // Of the partner nothing is read here, only its end is noticed.
    pollfd waited_for[] = {
        {socket_, POLLIN, 0}, {signals.fd(), POLLIN, 0}, {partner == nullptr ? -1 : partner->socket_, 0, 0}};
    ::poll(waited_for, 3, static_cast<int>(left.count()));
    if ((waited_for[2].revents & POLLHUP) != 0)
      return std::unexpected{"at the other end " + partner->end(ending_patience)};
    if (waited_for[0].revents == 0)
      continue;
    char bytes[4096];
    const auto count = ::recv(socket_, bytes, sizeof bytes, MSG_DONTWAIT);
    if (count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR))
      return std::unexpected{end(ending_patience)};
    if (count > 0)
      received_.append(bytes, static_cast<std::size_t>(count));
  }
}

std::string child_process::end(milliseconds patience) {
  if (process_ < 0)
    return "its process has ended";
  ::shutdown(socket_, SHUT_WR);
  int status = 0;
  for (const auto deadline = clock::now() + patience;;) {
    const auto waited = ::waitpid(process_, &status, WNOHANG);
    if (waited == process_ || (waited < 0 && errno == ECHILD))
      break;
    if (clock::now() > deadline) {
      ::kill(process_, SIGKILL);
      ::waitpid(process_, &status, 0);
      break;
    }
    std::this_thread::sleep_for(milliseconds{1});
  }
  process_ = -1;
  return end_of(status);
}

std::optional<std::string> child_process::ended_within(milliseconds patience) {
  pollfd waited_for{socket_, 0, 0}; // Hanging up is always reported.
  ::poll(&waited_for, 1, static_cast<int>(patience.count()));
  if (waited_for.revents == 0)
    return std::nullopt;
  return end(ending_patience);
}

void child_process::run_on(const std::vector<int>& cores) const {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  for (const auto core : cores)
    CPU_SET(core, &allowed);
  const auto parents = parents_of_processes();
  for (const auto& [process, parent] : parents) {
    auto ancestor = process;
    while (ancestor != process_ && parents.contains(ancestor))
      ancestor = parents.at(ancestor);
    if (ancestor != process_)
      continue;
    std::error_code ignored; // A process that ends meanwhile is noticed elsewhere.
    const auto threads = "/proc/" + std::to_string(process) + "/task";
    for (const auto& thread : std::filesystem::directory_iterator{threads, ignored})
      ::sched_setaffinity(std::stoi(thread.path().filename()), sizeof allowed, &allowed);
  }
}

std::vector<int> usable_cores() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  ::sched_getaffinity(0, sizeof allowed, &allowed);
  std::vector<int> cores;
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &allowed))
      cores.push_back(core);
  return cores;
}

void die_with_parent() {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
}

} // namespace bench
