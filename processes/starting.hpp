// A program, started as a process of its own.
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

struct inherited {}; ///< Ours.
struct nothing {};   ///< /dev/null.
struct lines {};     ///< The process's channel. Of errors: the same as of output.
/// Read from its start, or emptied and written.
struct file {
  std::filesystem::path path;
};
using stream = std::variant<inherited, nothing, lines, file>;

struct start_options {
  std::string program =
      "/proc/self/exe";           ///< A path, or a name to look for in PATH. The default is this program itself.
  std::vector<std::string> words; ///< As the program gets them; the first is its name.
  stream input = inherited{};
  stream output = inherited{};
  stream errors = inherited{};
  std::vector<std::pair<std::string, std::string>> environment; ///< Variables beside ours, or in place of ours.
  int parting_signal = SIGKILL; ///< What the kernel sends it when the thread that starts it ends; 0: nothing.
  bool own_group = false;       ///< In a process group of its own, which it leads.
};

/// A program that runs, with our ends of its streams.
struct started {
  pid_t number = -1;
  descriptor input;  // Empty if its input is no lines.
  descriptor output; // Empty if neither its output nor its errors are lines.
};

/// Starts a program. Fails with a text, also if it cannot be executed.
[[nodiscard]] std::expected<started, std::string> start_program(const start_options& options);

/// In a forked child: from now on the kernel sends it `signal` when the thread that has forked it ends. Ends this
/// process if that has happened before. Allocates nothing.
void die_with(pid_t parent, int signal);

} // namespace troupe::processes
