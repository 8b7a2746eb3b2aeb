#include "starting.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>
#include <system_error>

#include <fcntl.h>
#include <linux/close_range.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace troupe::processes {

namespace {

constexpr int cannot_start = 127; // As shells report it.

/// Moves a descriptor above the standard streams, where the setup of the child's streams cannot overwrite it.
descriptor above_streams(int number) {
  descriptor made{number};
  if (number < 0 || number > STDERR_FILENO)
    return made;
  return descriptor{::fcntl(number, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)};
}

/// The child's ends of its streams, and the parent's ends.
struct wiring {
  std::array<descriptor, 3> theirs; // Empty if the stream is inherited.
  descriptor input;
  descriptor output;
};

std::error_code last_error() {
  return {errno, std::generic_category()};
}

std::error_code wire(const start_options& options, wiring& made) {
  const std::array<const stream*, 3> streams{&options.input, &options.output, &options.errors};
  for (std::size_t at = 0; at < streams.size(); ++at) {
    const auto is_input = at == STDIN_FILENO;
    if (const auto* path = std::get_if<file>(streams[at])) {
      const auto flags = is_input ? O_RDONLY : O_WRONLY | O_CREAT | O_TRUNC;
      made.theirs[at] = above_streams(::open(path->path.c_str(), flags | O_CLOEXEC, 0600));
    } else if (std::holds_alternative<nothing>(*streams[at])) {
      made.theirs[at] = above_streams(::open("/dev/null", O_RDWR | O_CLOEXEC));
    } else if (std::holds_alternative<lines>(*streams[at]) && is_input) {
      int ends[2] = {-1, -1};
      if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return last_error();
      made.input = above_streams(ends[0]);
      made.theirs[at] = above_streams(ends[1]);
    } else if (std::holds_alternative<lines>(*streams[at]) && made.output) {
      made.theirs[at] = above_streams(::fcntl(made.theirs[STDOUT_FILENO].number(), F_DUPFD_CLOEXEC, 0));
    } else if (std::holds_alternative<lines>(*streams[at])) {
      int ends[2] = {-1, -1};
      if (::pipe2(ends, O_CLOEXEC) != 0)
        return last_error();
      made.output = above_streams(ends[0]);
      made.theirs[at] = above_streams(ends[1]);
    }
    if (!std::holds_alternative<inherited>(*streams[at]) && !made.theirs[at])
      return last_error();
  }
  return {};
}

std::vector<std::string> environment_with(const std::vector<std::pair<std::string, std::string>>& more) {
  std::vector<std::string> all;
  for (const auto& [name, value] : more)
    all.push_back(name + '=' + value);
  for (auto** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view known{*variable};
    if (std::ranges::none_of(more, [&](const auto& one) { return known.starts_with(one.first + '='); }))
      all.emplace_back(known);
  }
  return all;
}

/// An array of pointers for exec, with a null at its end.
std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> made;
  for (auto& text : texts)
    made.push_back(text.data());
  made.push_back(nullptr);
  return made;
}

/// All data that the child needs: nothing may be allocated after the fork.
struct preparation {
  const char* program;
  char** words;
  char** environment;
  const wiring* streams;
  int report; // Receives the error if exec fails.
  int parting_signal;
  bool own_group;
  pid_t parent;
};

/// Resets all signal handlers, since the child must not run this program's code, and unblocks all signals.
void forget_signals() {
  for (int signal = 1; signal < NSIG; ++signal) {
    struct sigaction known {};
    if (::sigaction(signal, nullptr, &known) != 0 || known.sa_handler == SIG_IGN || known.sa_handler == SIG_DFL)
      continue;
    known = {};
    known.sa_handler = SIG_DFL;
    ::sigaction(signal, &known, nullptr);
  }
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

[[noreturn]] void become(const preparation& what) {
  if (what.parting_signal != 0)
    die_with(what.parent, what.parting_signal);
  if (what.own_group)
    ::setpgid(0, 0);
  for (std::size_t at = 0; at < what.streams->theirs.size(); ++at)
    if (what.streams->theirs[at])
      ::dup2(what.streams->theirs[at].number(), static_cast<int>(at));
  ::close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC);
  forget_signals();
  ::execvpe(what.program, what.words, what.environment);
  const auto error = errno;
  [[maybe_unused]] const auto written = ::write(what.report, &error, sizeof error);
  ::_exit(cannot_start);
}

/// Blocks all signals of this thread during its lifetime, so that a child does not run their handlers.
class blocked_signals {
public:
  blocked_signals() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  blocked_signals(const blocked_signals&) = delete;
  blocked_signals& operator=(const blocked_signals&) = delete;
  ~blocked_signals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

private:
  sigset_t before_{};
};

} // namespace

std::expected<started, std::string> start_program(const start_options& options) {
  const auto failed = [&](const std::error_code& why) {
    return std::unexpected{"cannot start " + options.program + ": " + why.message()};
  };
  wiring streams;
  if (const auto error = wire(options, streams))
    return failed(error);
  int report_ends[2] = {-1, -1};
  if (::pipe2(report_ends, O_CLOEXEC) != 0)
    return failed(last_error());
  const auto report = above_streams(report_ends[0]);
  auto report_end = above_streams(report_ends[1]);
  auto words = options.words;
  auto variables = environment_with(options.environment);
  const auto word_pointers = pointers_to(words);
  const auto variable_pointers = pointers_to(variables);
  preparation what{.program = options.program.c_str(),
                   .words = const_cast<char**>(word_pointers.data()),
                   .environment = const_cast<char**>(variable_pointers.data()),
                   .streams = &streams,
                   .report = report_end.number(),
                   .parting_signal = options.parting_signal,
                   .own_group = options.own_group,
                   .parent = ::getpid()};
  pid_t number = -1;
  {
    const blocked_signals none_comes;
    // fork rather than posix_spawn, which cannot end the child together with its parent.
    number = ::fork();
    if (number == 0)
      become(what);
  }
  if (number < 0)
    return failed(last_error());
  report_end.close();
  int error = 0;
  ssize_t count = -1;
  while (count < 0) // If exec succeeds, the pipe closes without data.
    count = ::read(report.number(), &error, sizeof error);
  if (count > 0) {
    ::waitpid(number, nullptr, 0);
    return failed({error, std::generic_category()});
  }
  return started{.number = number, .input = std::move(streams.input), .output = std::move(streams.output)};
}

void die_with(pid_t parent, int signal) {
  ::prctl(PR_SET_PDEATHSIG, signal);
  const auto now = ::getppid(); // 0: the parent is in a pid namespace outside the child's.
  if (now != parent && now != 0)
    ::_exit(cannot_start); // The parent ended before the prctl() call.
}

} // namespace troupe::processes
