#include <troupe/framework/internal/workers/worker_start.hpp>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <troupe/base/text.hpp>
#include <troupe/framework/internal/net/own_sockets.hpp>
#include <troupe/framework/internal/words/failing.hpp>
#include <troupe/framework/internal/workers/worker_variables.hpp>
#include <troupe/processes/starting.hpp>

namespace troupe::internal {

namespace {

using processes::descriptor;
using processes::start_failure;

constexpr int niceness_max = 19;
constexpr std::size_t worker_name_bytes_max = 200; // A line with its name fits into one write to a pipe.

std::unexpected<node_error> cannot_start(const std::string& name, int error) {
  return fail(node_errc::spawn_failed,
              "worker " + name + " cannot be started: " + std::generic_category().message(error));
}

node_error error_of(const std::string& name, const start_failure& why) {
  const auto is_limit = why.what == start_failure::step::control_group || why.what == start_failure::step::niceness
                        || why.what == start_failure::step::cores;
  return {is_limit ? node_errc::unsupported : node_errc::spawn_failed, "worker " + name + ": " + why.text};
}

struct pipe_ends {
  descriptor ours;
  descriptor theirs;
};

/// The worker's end blocks, as programs expect of their streams.
bool make_pipe(pipe_ends& made) {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return false;
  made.ours = descriptor{ends[0]};
  made.theirs = descriptor{ends[1]};
  return ::fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0;
}

/// Moves a descriptor out of the numbers of the standard streams, in case this program has closed one of these.
bool move_above_streams(descriptor& one) {
  if (one.number() > STDERR_FILENO)
    return true;
  one = descriptor{::fcntl(one.number(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1)};
  return static_cast<bool>(one);
}

/// The program for people: its own file instead of "/proc/self/exe".
std::filesystem::path shown_program(const worker_options& options) {
  std::error_code failed;
  if (options.program == "/proc/self/exe")
    if (auto target = std::filesystem::read_symlink(options.program, failed); !failed)
      return target;
  return options.program;
}

} // namespace

std::string name_of_worker(const worker_options& options) {
  return options.name.empty() ? shown_program(options).filename().string() : options.name;
}

std::expected<void, node_error> check_worker(const worker_options& options) {
  const auto name = name_of_worker(options);
  if (options.program.empty())
    return bad_option("program of a worker is empty");
  if (name.empty() || name.size() > worker_name_bytes_max)
    return bad_option("the name of a worker has 1 to 200 bytes, this one " + grouped(name.size()));
  if (std::ranges::any_of(name, [](unsigned char each) { return each < 0x20 || each == 0x7f; }))
    return bad_option("the name of worker \"" + name + "\" has a control character");
  const auto has_end = [](std::string_view text) { return text.find('\0') != std::string_view::npos; };
  if (has_end(options.program) || std::ranges::any_of(options.arguments, has_end))
    return bad_option("the program or an argument of worker " + name + " contains a zero byte, where it would be cut");
  if (options.limits.niceness < 0 || options.limits.niceness > niceness_max)
    return bad_option("limits.niceness of worker " + name + " is " + std::to_string(options.limits.niceness)
                      + "; it is 0 to 19");
  for (const auto core : options.limits.cores)
    if (core >= CPU_SETSIZE)
      return bad_option("limits.cores of worker " + name + " has " + std::to_string(core) + ", limit "
                        + std::to_string(CPU_SETSIZE - 1));
  if (options.limits.memory_bytes == 0)
    return bad_option("limits.memory_bytes of worker " + name + " is 0: no program could run");
  for (const auto& [option, value] :
       {std::pair{"start_timeout", options.start_timeout}, std::pair{"stop_timeout", options.stop_timeout}})
    if (value.count() < 0 || value > std::chrono::hours{24})
      return bad_option(std::string{option} + " of worker " + name + " is " + std::to_string(value.count())
                        + " ms; it is 0 to 24 hours");
  for (const auto& [variable, value] : options.environment)
    if (variable.empty() || variable.find('=') != std::string::npos || has_end(variable) || has_end(value))
      return bad_option("environment of worker " + name + " has a variable with the name \"" + variable
                        + "\"; a name is not empty and has no \"=\", and neither name nor value has a zero byte");
  return {};
}

std::expected<started_worker, node_error> start_worker(const worker_options& options,
                                                       const std::optional<store::options>& store,
                                                       const std::optional<memory_group>& group) {
  const auto name = name_of_worker(options);
  int ends[2] = {-1, -1};
  pipe_ends output, errors;
  if (!make_own_socket_pair(ends))
    return cannot_start(name, errno);
  started_worker made;
  made.socket = descriptor{ends[0]};
  descriptor theirs{ends[1]};
  if (!make_pipe(output) || !make_pipe(errors) || !move_above_streams(theirs))
    return cannot_start(name, errno);
  processes::start_options with{.program = options.program,
                                .words = {shown_program(options).string()},
                                .input = processes::nothing{},
                                .output = processes::given{output.theirs.number()},
                                .errors = processes::given{errors.theirs.number()},
                                .environment = variables_of({theirs.number(), name, store}),
                                .own_group = true,
                                .kept = {theirs.number()},
                                .cores = options.limits.cores,
                                .niceness = options.limits.niceness,
                                .control_group = group ? group->entry() : -1};
  with.words.insert(with.words.end(), options.arguments.begin(), options.arguments.end());
  with.environment.insert(with.environment.end(), options.environment.begin(), options.environment.end());
  auto started = processes::try_to_start(with);
  if (!started)
    return std::unexpected{error_of(name, started.error())};
  made.number = started->number;
  made.watch = descriptor{static_cast<int>(::syscall(SYS_pidfd_open, made.number, 0))};
  if (const auto error = errno; !made.watch && error != ESRCH) { // ESRCH: it has ended, and was reaped elsewhere.
    ::kill(-made.number, SIGKILL);
    ::waitpid(made.number, nullptr, 0);
    return cannot_start(name, error);
  }
  made.output = std::move(output.ours);
  made.errors = std::move(errors.ours);
  return made;
}

} // namespace troupe::internal
