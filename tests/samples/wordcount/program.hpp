// The built program as a real process, and the processes and files that it leaves behind.
#pragma once

#include "../../eventually.hpp"

#include <troupe/processes/process.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace wordcount::tests {

using troupe::processes::exited_with;
using troupe::processes::killed_by;
using troupe::tests::eventually;

struct run_result {
  troupe::processes::ending how;
  std::string output;
  std::string errors;
};

/// One run of the program. Its output goes to files in `folder`, which is also its home folder.
class program {
public:
  program(const std::filesystem::path& folder, const std::vector<std::string>& arguments);
  program(const program&) = delete;
  program& operator=(const program&) = delete;
  /// Kills the program, if it still runs, and all processes that it started.
  ~program();

  void signal(int number) { process_.signal(number); }
  /// Waits for the program's end.
  run_result wait();

  [[nodiscard]] pid_t process() const { return process_.number(); }
  /// The processes that the program has started and that still run.
  [[nodiscard]] std::vector<pid_t> workers() const;
  /// The files of the program's store in /dev/shm.
  [[nodiscard]] std::vector<std::string> store_files() const;
  /// The program's error output so far.
  [[nodiscard]] std::string errors() const;

private:
  const std::filesystem::path folder_;
  troupe::processes::process process_;
};

/// Whether a process is stopped by a signal.
[[nodiscard]] bool is_stopped(pid_t process);

[[nodiscard]] std::string read_file(const std::filesystem::path& path);

} // namespace wordcount::tests
