// The built program as a real process, and what it leaves behind.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace wordcount::tests {

struct run_result {
  int status = 0; // Exit status; -n when signal n killed it.
  std::string output;
  std::string errors;
};

/// One run of the program. Its output goes to files in `folder`, which is its home folder, too.
class program {
public:
  program(const std::filesystem::path& folder, const std::vector<std::string>& arguments);
  program(const program&) = delete;
  program& operator=(const program&) = delete;
  /// Kills what still runs of it: the program and all that it started.
  ~program();

  void signal(int number) const;
  /// Waits for its end.
  run_result wait();

  [[nodiscard]] pid_t process() const { return process_; }
  /// The processes that it has started and that still run.
  [[nodiscard]] std::vector<pid_t> workers() const;
  /// The files of its store in /dev/shm.
  [[nodiscard]] std::vector<std::string> store_files() const;
  /// What it said so far.
  [[nodiscard]] std::string errors() const;

private:
  const std::filesystem::path folder_;
  pid_t process_ = 0;
  bool is_waited_for_ = false;
};

/// Whether a process is stopped by a signal.
[[nodiscard]] bool is_stopped(pid_t process);

/// Waits until the condition holds; false after ten seconds.
[[nodiscard]] bool eventually(const std::function<bool()>& condition);

/// What all users of the host can see of a process: its arguments.
[[nodiscard]] std::vector<std::string> arguments_of(pid_t process);
/// As the kernel keeps it, of the time when the process was started.
[[nodiscard]] std::string environment_of(pid_t process);

[[nodiscard]] std::string read_file(const std::filesystem::path& path);

} // namespace wordcount::tests
