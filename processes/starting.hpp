// Starting a program in a process of its own.
#pragma once

#include "descriptor.hpp"

#include <csignal>
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
using stream = std::variant<inherited, nothing, lines, file>;

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
};

/// A running program, and the parent's ends of its streams.
struct started {
  pid_t number = -1;
  descriptor input;  // Empty if its input is not `lines`.
  descriptor output; // Empty if neither its output nor its errors are `lines`.
};

/// Starts a program. Fails with a text; also if the program cannot be executed.
[[nodiscard]] std::expected<started, std::string> start_program(const start_options& options);

/// To be called in a forked child. The kernel then sends `signal` to the child when the thread that forked it ends. If
/// `parent` has already ended, the call ends this process. It allocates nothing.
void die_with(pid_t parent, int signal);

} // namespace troupe::processes
