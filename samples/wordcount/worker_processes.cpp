#include "worker_processes.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <expected>
#include <sstream>
#include <system_error>
#include <utility>

namespace wordcount {

namespace {

constexpr std::ptrdiff_t invitation_lines = 2;

std::string to_text(const invitation& told) {
  return told.address + '\n' + told.secret + '\n';
}

std::unexpected<std::string> cannot_start(int error) {
  return std::unexpected{"it cannot be started: " + std::generic_category().message(error)};
}

struct started_process {
  pid_t number = 0;
  file_descriptor commands; // The write end of its standard input.
};

/// Uses posix_spawn instead of fork: this process has threads, and a forked child would have only one of them.
std::expected<started_process, std::string> spawn_self(const std::vector<std::string>& arguments) {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return cannot_start(errno);
  const file_descriptor input{ends[0]};
  started_process started{.number = 0, .commands = file_descriptor{ends[1]}};

  std::string program = "/proc/self/exe"; // The same file, even if it was replaced or removed meanwhile.
  std::string name = "wordcount";
  std::vector<char*> argv{name.data()};
  for (const auto& argument : arguments)
    argv.push_back(const_cast<char*>(argument.c_str())); // posix_spawn does not change them.
  argv.push_back(nullptr);

  // Only stderr is inherited. A worker must not hold other pipes open that the coordinator was started with.
  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_adddup2(&files, input.number(), STDIN_FILENO);
  ::posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  ::posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
  // Unblock the signals that the coordinator blocks, so that the worker gets them.
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  sigset_t none;
  ::sigemptyset(&none);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);

  const auto error = ::posix_spawn(&started.number, program.c_str(), &files, &attributes, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&files);
  ::posix_spawnattr_destroy(&attributes);
  if (error != 0)
    return cannot_start(error);
  return started;
}

std::string end_of(int status) {
  if (WIFSIGNALED(status))
    return "killed by signal " + std::to_string(WTERMSIG(status)) + " (" + ::strsignal(WTERMSIG(status)) + ")";
  return "its process ended with status " + std::to_string(WEXITSTATUS(status));
}

} // namespace

worker_processes::worker_processes(const std::vector<std::vector<std::string>>& arguments)
    : commands_(arguments.size()), running_(arguments.size()) {
  std::signal(SIGCHLD, SIG_DFL); // If SIGCHLD is ignored, children cannot be waited for.
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (auto started = spawn_self(arguments[i])) {
      running_[i] = started->number;
      commands_[i] = std::move(started->commands);
    } else {
      unreported_.emplace_back(i + 1, std::move(started).error());
    }
  }
  watcher_ = std::thread{[this] { watch(); }};
}

worker_processes::~worker_processes() {
  kill_and_wait();
}

void worker_processes::begin(const invitation& to, ended_report on_ended) {
  const auto text = to_text(to);
  for (const auto& commands : commands_) // A failed write is reported below, because that worker is gone.
    [[maybe_unused]] const auto written = ::write(commands.number(), text.data(), text.size());
  std::unique_lock guard{mutex_};
  on_ended_ = std::move(on_ended);
  const auto reports = std::exchange(unreported_, {});
  guard.unlock();
  for (const auto& [worker, how] : reports)
    on_ended_(worker, how);
}

bool worker_processes::end(std::chrono::milliseconds patience) {
  commands_.clear();
  std::unique_lock guard{mutex_};
  changed_.wait_for(guard, patience, [this] { return running() == 0; });
  guard.unlock();
  kill_and_wait();
  return all_well_;
}

void worker_processes::kill_and_wait() {
  std::unique_lock guard{mutex_};
  for (const auto process : running_)
    if (process != 0)
      ::kill(process, SIGKILL);
  guard.unlock();
  if (watcher_.joinable())
    watcher_.join(); // The watcher ends when no children are left.
}

std::size_t worker_processes::running() const {
  return running_.size() - static_cast<std::size_t>(std::ranges::count(running_, 0));
}

void worker_processes::watch() {
  for (;;) {
    // Look without reaping. The process is reaped under the lock, and until then its number is not reused, so that
    // kill_and_wait() cannot hit another process.
    siginfo_t ended{};
    if (::waitid(P_ALL, 0, &ended, WEXITED | WNOWAIT) != 0) {
      if (errno == EINTR)
        continue;
      return; // No children left.
    }
    std::unique_lock guard{mutex_};
    int status = 0;
    ::waitpid(ended.si_pid, &status, 0);
    const auto found = std::ranges::find(running_, ended.si_pid);
    if (found == running_.end())
      continue;
    *found = 0;
    all_well_ = all_well_ && status == 0;
    guard.unlock();
    report(static_cast<std::size_t>(found - running_.begin()) + 1, end_of(status));
    changed_.notify_all();
  }
}

void worker_processes::report(std::size_t worker, const std::string& how) {
  std::unique_lock guard{mutex_};
  if (!on_ended_) {
    unreported_.emplace_back(worker, how);
    return;
  }
  guard.unlock();
  on_ended_(worker, how); // on_ended_ does not change any more.
}

std::optional<invitation> wait_to_begin() {
  std::string text;
  while (std::ranges::count(text, '\n') < invitation_lines) {
    char piece[256];
    const auto size = ::read(STDIN_FILENO, piece, sizeof piece);
    if (size > 0)
      text.append(piece, static_cast<std::size_t>(size));
    else if (size == 0 || errno != EINTR)
      return std::nullopt;
  }
  invitation told;
  std::istringstream lines{text};
  for (auto* line : {&told.address, &told.secret})
    std::getline(lines, *line);
  return told;
}

void wait_to_end() {
  char nothing = 0;
  while (::read(STDIN_FILENO, &nothing, 1) < 0 && errno == EINTR)
    continue;
}

} // namespace wordcount
