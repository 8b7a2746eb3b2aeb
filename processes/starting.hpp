// Starting a program in a process of its own.
#pragma once

#include "descriptor.hpp"

#include <csignal>
#include <cstdint>
#include <expected>
#include <filesystem>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <sys/types.h>

namespace troupe::processes {

struct inherited {}; ///< The parent's stream.
struct nothing {};   ///< /dev/null.
struct lines {};     ///< The channel of the process. Errors go to the same channel as output.
/// A file. As input it is read from its start. As output it is emptied first.
struct file {
  std::filesystem::path path;
};
/// An open descriptor of the caller.
struct given {
  int number;
};
using stream = std::variant<inherited, nothing, lines, file, given>;

struct start_options {
  std::string program =
      "/proc/self/exe";           ///< A path, or a name to look for in PATH. The default is this program itself.
  std::vector<std::string> words; ///< Arguments; the first is the program's name.
  stream input = inherited{};
  stream output = inherited{};
  stream errors = inherited{};
  /// Variables that are added to the parent's, or replace those of the same name.
  std::vector<std::pair<std::string, std::string>> environment;
  int parting_signal = SIGKILL; ///< Sent by the kernel to the child when the thread that started it ends; 0: none.
  bool own_group = false;       ///< Whether the child leads a process group of its own.
  std::vector<int> kept;        ///< Descriptors above the standard streams, which the program inherits as they are.
  std::vector<unsigned> cores;  ///< The cores on which it may run; empty: the parent's.
  int niceness = 0;             ///< Added to the parent's.
  int control_group = -1;       ///< The open file cgroup.procs of the control group for the program; -1: the parent's.
};

/// Why a program was not started.
struct start_failure {
  enum class step : std::uint8_t { preparing, control_group, niceness, cores, executing };

  step what = step::preparing;
  int error = 0;    // errno.
  std::string text; // For people.
};

/// A running program, and the parent's ends of its streams.
struct started {
  pid_t number = -1;
  descriptor input;  // Empty if its input is not `lines`.
  descriptor output; // Empty if neither its output nor its errors are `lines`.
};

/// Starts a program. Fails with a text; also if the program cannot be executed.
[[nodiscard]] std::expected<started, std::string> start_program(const start_options& options);
/// Like start_program(), with the reason of a failure.
[[nodiscard]] std::expected<started, start_failure> try_to_start(const start_options& options);

/// To be called in a forked child. The kernel then sends `signal` to the child when the thread that forked it ends. If
/// `parent` has already ended, the call ends this process. It allocates nothing.
void die_with(pid_t parent, int signal);

} // namespace troupe::processes
