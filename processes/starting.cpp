#include "starting.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <string_view>
#include <system_error>

#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace troupe::processes {

namespace {

constexpr int cannot_start = 127; // As shells report it.

// Sanitizers note what a child of vfork does to the memory that it borrows.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool borrows_memory = false;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
constexpr bool borrows_memory = false;
#else
constexpr bool borrows_memory = true;
#endif
#else
constexpr bool borrows_memory = true;
#endif

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
    } else if (const auto* open = std::get_if<given>(streams[at])) {
      made.theirs[at] = above_streams(::fcntl(open->number, F_DUPFD_CLOEXEC, 0));
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

/// What the child tells before it has become another program.
struct child_report {
  start_failure::step what;
  int error;
};

/// All data that the child needs: nothing may be allocated after the fork.
struct preparation {
  const char* program;
  char** words;
  char** environment;
  const wiring* streams;
  int report; // Receives a child_report if the program cannot be started.
  const start_options* options;
  const cpu_set_t* cores; // Null: the parent's.
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

[[noreturn]] void give_up(const preparation& what, start_failure::step at, int error) {
  const child_report report{at, error};
  [[maybe_unused]] const auto written = ::write(what.report, &report, sizeof report);
  ::_exit(cannot_start);
}

/// The kernel silently leaves out cores that this process may not use, so the result is compared.
bool move_to_cores(const cpu_set_t& wanted) {
  cpu_set_t now;
  if (::sched_setaffinity(0, sizeof wanted, &wanted) != 0 || ::sched_getaffinity(0, sizeof now, &now) != 0)
    return false;
  errno = EINVAL;
  return CPU_EQUAL(&now, &wanted);
}

void limit_self(const preparation& what) {
  using step = start_failure::step;
  const auto& options = *what.options;
  if (options.control_group >= 0 && ::write(options.control_group, "0", 1) != 1) // 0: the process that writes.
    give_up(what, step::control_group, errno);
  errno = 0;
  if (options.niceness != 0 && ::nice(options.niceness) == -1 && errno != 0)
    give_up(what, step::niceness, errno);
  if (what.cores != nullptr && !move_to_cores(*what.cores))
    give_up(what, step::cores, errno);
}

[[noreturn]] void become(const preparation& what) {
  const auto& options = *what.options;
  if (options.parting_signal != 0)
    die_with(what.parent, options.parting_signal);
  if (options.own_group)
    ::setpgid(0, 0);
  limit_self(what);
  for (std::size_t at = 0; at < what.streams->theirs.size(); ++at)
    if (what.streams->theirs[at])
      ::dup2(what.streams->theirs[at].number(), static_cast<int>(at));
  ::close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC);
  for (const auto each : options.kept)
    ::fcntl(each, F_SETFD, 0);
  forget_signals();
  ::execvpe(what.program, what.words, what.environment);
  give_up(what, start_failure::step::executing, errno);
}

/// Starts the child. vfork rather than fork, which copies the page tables: with 2 GiB of touched memory it takes 50 ms,
/// vfork 0.1 ms. posix_spawn can neither end the child together with its parent nor set limits, and a helper program
/// that does so would have to be found at run time. The child borrows this thread's stack and memory until exec, while
/// this thread sleeps. So become() allocates nothing, takes no lock, calls only async-signal-safe functions and changes
/// nothing that this process uses afterwards; and no signal handler runs in it, because all signals are blocked. A
/// function of its own, so that no variable of a caller lives in registers that the child could change.
[[gnu::noinline]] pid_t give_birth(const preparation& what) {
  const auto number = borrows_memory ? ::vfork() : ::fork();
  if (number == 0)
    become(what);
  return number;
}

/// Reads the report of a child; nullopt: the child has become the program. After vfork it has reported by now, or never
/// will. The end of the pipe says nothing more: a program that another thread has forked may hold a copy of it.
std::optional<child_report> report_of(pid_t child, int report) {
  if (!borrows_memory) { // The child runs on its own.
    const descriptor watch{static_cast<int>(::syscall(SYS_pidfd_open, child, 0))};
    std::array<pollfd, 2> waited_for{pollfd{.fd = report, .events = POLLIN, .revents = 0},
                                     pollfd{.fd = watch.number(), .events = POLLIN, .revents = 0}};
    while (::poll(waited_for.data(), waited_for.size(), -1) < 0) // Interrupted by a signal.
      continue;
  }
  child_report told{};
  ssize_t count = -1;
  do
    count = ::read(report, &told, sizeof told);
  while (count < 0 && errno == EINTR);
  return count > 0 ? std::optional{told} : std::nullopt;
}

/// "0, 1".
std::string list_of(const std::vector<unsigned>& numbers) {
  std::string text;
  for (const auto each : numbers)
    text += (text.empty() ? "" : ", ") + std::to_string(each);
  return text;
}

std::string text_of(const start_options& options, start_failure::step at) {
  using step = start_failure::step;
  switch (at) {
  case step::control_group:
    return "it cannot enter its control group: ";
  case step::niceness:
    return "its niceness cannot be raised by " + std::to_string(options.niceness) + ": ";
  case step::cores:
    return "its cores cannot be set to " + list_of(options.cores) + ": ";
  default:
    return {};
  }
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
  auto running = try_to_start(options);
  if (!running)
    return std::unexpected{std::move(running).error().text};
  return *std::move(running);
}

std::expected<started, start_failure> try_to_start(const start_options& options) {
  const auto failed = [&](const std::error_code& why, start_failure::step at = start_failure::step::preparing) {
    return std::unexpected{start_failure{
        at, why.value(), "cannot start " + options.program + ": " + text_of(options, at) + why.message()}};
  };
  wiring streams;
  if (const auto error = wire(options, streams))
    return failed(error);
  cpu_set_t cores;
  CPU_ZERO(&cores);
  for (const auto each : options.cores) {
    if (each >= CPU_SETSIZE)
      return failed(std::make_error_code(std::errc::invalid_argument), start_failure::step::cores);
    CPU_SET(each, &cores);
  }
  int report_ends[2] = {-1, -1};
  if (::pipe2(report_ends, O_CLOEXEC | O_NONBLOCK) != 0)
    return failed(last_error());
  const auto report = above_streams(report_ends[0]);
  auto report_end = above_streams(report_ends[1]);
  auto words = options.words;
  auto variables = environment_with(options.environment);
  const auto word_pointers = pointers_to(words);
  const auto variable_pointers = pointers_to(variables);
  const preparation what{.program = options.program.c_str(),
                         .words = const_cast<char**>(word_pointers.data()),
                         .environment = const_cast<char**>(variable_pointers.data()),
                         .streams = &streams,
                         .report = report_end.number(),
                         .options = &options,
                         .cores = options.cores.empty() ? nullptr : &cores,
                         .parent = ::getpid()};
  pid_t number = -1;
  {
    const blocked_signals none_comes;
    number = give_birth(what);
  }
  if (number < 0)
    return failed(last_error());
  report_end.close();
  if (const auto told = report_of(number, report.number())) {
    ::waitpid(number, nullptr, 0);
    return failed({told->error, std::generic_category()}, told->what);
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
