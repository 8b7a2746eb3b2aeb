// A program that runs in a process of its own and is linked with this node.
#pragma once

#include <chrono>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sys/types.h>

#include <caf/actor.hpp>
#include <caf/allowed_unsafe_message_type.hpp>

#include <troupe/base/export.hpp>
#include <troupe/framework/fwd.hpp>
#include <troupe/framework/link.hpp>
#include <troupe/framework/link_options.hpp>
#include <troupe/framework/node_errc.hpp>

namespace troupe {

/// What a worker process may use. A limit that cannot be set is an error, never ignored.
struct worker_limits {
  /// The cores on which it may run, by the system's numbers from 0. Empty: those of this process.
  std::vector<unsigned> cores = {};
  /// 0 to 19: how much it gives way to other processes. It is added to this process's own niceness.
  int niceness = 0;
  /// The memory of the worker and of all processes that it starts, as a limit of a control group (cgroup v2, or v1)
  /// below this process's own group. It counts the pages of the shared store that the worker touches first. If the
  /// system offers no such group to this process, the start fails with `unsupported`.
  std::optional<std::uint64_t> memory_bytes = std::nullopt;
};

/// How a worker process ended.
struct worker_ending {
  enum class kind : std::uint8_t {
    not_started, ///< There was no process: the program could not be executed.
    exited,      ///< `value` is the exit status.
    signaled,    ///< `value` is the signal that killed it.
    unknown      ///< It has ended, but its status was lost: see worker_process.
  };

  kind how = kind::not_started;
  int value = 0;
  /// The system killed it because of worker_limits::memory_bytes, before this process did for another reason.
  bool out_of_memory = false;
  /// For people: "exit status 3", "SIGKILL, cause unknown", "SIGKILL, for memory (limit 67,108,864 bytes)", or what
  /// this process killed it for.
  std::string cause = {};
  /// The last lines of its standard error: at most 20, each cut to 512 bytes.
  std::vector<std::string> last_errors = {};
};

/// A change of the state of a worker process.
struct worker_event {
  enum class kind : std::uint8_t {
    connected,    ///< `link` is open.
    start_failed, ///< It has not connected, and its process has ended. There are no more events.
    ended         ///< Its process has ended, and so has its link. There are no more events.
  };

  kind what = kind::ended;
  /// worker_options::name.
  std::string name = {};
  /// Set if `connected`.
  std::optional<class link> link = std::nullopt;
  /// Why the start failed, or why the link ended; `none` if connected.
  node_error reason = {node_errc::none, {}};
  /// Set unless `connected`.
  worker_ending ending = {};
};

/// How a worker process is started and ended.
struct worker_options {
  /// A path, or a name to look for in PATH. The default is this program itself. Its `main` calls worker_main
  /// (worker_main.hpp).
  std::string program = "/proc/self/exe";
  std::vector<std::string> arguments = {};
  /// For events, errors and relayed lines, and the name of the worker's node; at most 200 bytes without
  /// control characters. Empty: the program's file name.
  std::string name = {};
  /// Variables that are added to this process's, or replace those of the same name.
  std::vector<std::pair<std::string, std::string>> environment = {};
  worker_limits limits = {};
  /// This end's options of the link. The worker sets its own (worker_setup::link).
  link_options link = {};
  /// The time from the start until the link is open. A worker that takes longer is killed, and the start fails with
  /// `timed_out`.
  std::chrono::milliseconds start_timeout = std::chrono::seconds(10);
  /// The time that the worker has to end after stop(), or after its link ended for another reason. Then it is killed.
  std::chrono::milliseconds stop_timeout = std::chrono::seconds(5);
  /// Receives each line that the worker writes, without its line end. A line of more than 3,840 bytes comes in several
  /// pieces. Empty: each line goes to the standard error stream as "[name] line"; lines that its reader does not accept
  /// at once are dropped there and counted. The function must neither block nor throw; while it runs, no other worker
  /// of this process is watched.
  std::function<void(std::string_view line, bool is_error)> output = {};
};

/// A process that runs another program, and the link between its node and this one. The program calls worker_main
/// (worker_main.hpp).
///
/// The link goes over a pair of connected sockets, of which the process inherits one, so nobody else can connect. It
/// has all features of a link over a unix socket, also the shared store.
///
/// The process ends with this one, however this one ends. If this process is killed, the worker notices the end of its
/// parent and of its link: it ends in order, so that it frees the store, or is ended by worker_setup::end_timeout. A
/// process that has not called worker_main yet is killed by the kernel. The worker leads a
/// process group of its own, so keys pressed at a terminal do not reach it. When it has ended, processes that it
/// started and that are still in its group are killed. If this process is killed, they get no signal: they live on
/// unless they end with the worker. Processes that have left the group live on, unless the worker has a memory limit:
/// all processes in its control group are killed when it has ended.
///
/// Processes of this program are started and watched by one thread, which lives as long as the program. It waits for
/// them by their descriptors: it needs no handler of SIGCHLD, and takes no other child's status. If SIGCHLD is ignored,
/// or the program waits for all its children itself, the status is lost: worker_ending::kind::unknown. Processes of the
/// worker's group then live on.
///
/// Threads: any thread may call every member.
/// Lifetime: the destructor stops the worker and waits until it has ended: at most about stop_timeout. In an event or
/// an output function it does not wait, and nothing more is told. The node and the worker_process may end in any order;
/// if the node ends, the worker is stopped.
class TROUPE_EXPORT worker_process {
public:
  /// Starts a worker, and blocks until its link is open. Not for actors' handlers. On failure the process has ended.
  /// Fails with
  /// - `bad_option`: a limit, a timeout or an option of the link has an unusable value; the text names it.
  /// - `unsupported`: the system refuses a limit, or this thread must not wait.
  /// - `spawn_failed`: the program cannot be executed, or has ended before it connected; the text has its exit status
  ///   and its last line of standard error.
  /// - `timed_out`: it did not connect within start_timeout.
  /// - `protocol_violation`: it speaks something else on its socket.
  /// - `link_down`: the node is closing, or the worker closed its socket.
  /// - the errors of node::connect, such as `nothing_in_common`.
  ///
  ///     auto worker = troupe::worker_process::start(*node, {.program = "./squarer"});
  ///     auto squarer = worker->link()->spawn("squarer").get(5s);
  [[nodiscard]] static std::expected<worker_process, node_error> start(node& with, worker_options options);

  /// Starts a worker without waiting for it. Afterwards `on_event` and `listener` get these events in order, each once:
  /// `connected` and `ended`, or `start_failed`. `on_event` may be empty. It is called on the thread that watches the
  /// workers, so it must neither block nor throw. It is not called after the destructor has returned. `listener` gets
  /// each event as a message, `[](const troupe::worker_event& event)`. It must be an actor of this process, and is not
  /// kept alive.
  /// Fails with `bad_option`, `unsupported` (a limit) or `link_down` (the node is closing). All other failures are told
  /// by `start_failed`.
  [[nodiscard]] static std::expected<worker_process, node_error>
  launch(node& with, worker_options options, std::function<void(const worker_event&)> on_event,
         const caf::actor& listener = {});

  /// @private
  explicit worker_process(std::shared_ptr<internal::worker_core> core);
  /// A moved-from object can only be assigned to or destroyed.
  worker_process(worker_process&&) noexcept;
  worker_process& operator=(worker_process&&) noexcept;
  ~worker_process();

  /// worker_options::name, or what stands for it.
  [[nodiscard]] const std::string& name() const noexcept;

  /// The open link; nullopt before the worker has connected and after its link has ended.
  [[nodiscard]] std::optional<class link> link() const;

  /// 0 until the process was started. It stays the same after the process's end; the system may then give it to another
  /// process.
  [[nodiscard]] pid_t pid() const;

  /// How the worker ended; nullopt as long as it runs. It is set before `ended` or `start_failed` is told.
  [[nodiscard]] std::optional<worker_ending> ending() const;

  /// Waits for the worker's end at most `timeout`. Returns nullopt if it still runs, or at once in an event or output
  /// function. Blocks: not for actors' handlers.
  [[nodiscard]] std::optional<worker_ending> wait(std::chrono::milliseconds timeout) const;

  /// Asks the worker to end: closes the link, as link::close() does, at which worker_main returns. A worker that has
  /// not connected yet is killed. Does not wait.
  void stop();

  /// Kills the worker and all processes of its group. Does not wait.
  void kill();

private:
  std::shared_ptr<internal::worker_core> core_; // Null after a move.
};

} // namespace troupe

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::worker_event)
