#include "program.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <thread>

namespace wordcount::tests {

namespace {

/// The state letter and what follows it in /proc/<process>/stat; empty when there is no such process.
std::string state_of(const std::string& process) {
  const auto stat = read_file("/proc/" + process + "/stat");
  const auto name_end = stat.rfind(") ");
  return name_end == std::string::npos ? "" : stat.substr(name_end + 2);
}

/// In the environment of the program and, inherited, of all that it starts: finds them even after their parent's death.
std::string mark_of(const std::filesystem::path& folder) {
  return "WORDCOUNT_TEST=" + folder.string();
}

} // namespace

program::program(const std::filesystem::path& folder, const std::vector<std::string>& arguments) : folder_(folder) {
  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  const auto output = folder / "stdout";
  const auto errors = folder / "stderr";
  const auto flags = O_WRONLY | O_CREAT | O_TRUNC;
  ::posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, output.c_str(), flags, 0600);
  ::posix_spawn_file_actions_addopen(&files, STDERR_FILENO, errors.c_str(), flags, 0600);

  std::vector<std::string> texts{WORDCOUNT_PROGRAM};
  texts.insert(texts.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (auto& text : texts)
    argv.push_back(text.data());
  argv.push_back(nullptr);
  std::vector<std::string> ours{mark_of(folder), "HOME=" + folder.string(), "XDG_RUNTIME_DIR=" + folder.string()};
  std::vector<char*> environment;
  for (auto& variable : ours)
    environment.push_back(variable.data());
  for (auto** variable = environ; *variable != nullptr; ++variable)
    if (const std::string_view known{*variable}; !known.starts_with("HOME=") && !known.starts_with("XDG_RUNTIME_DIR="))
      environment.push_back(*variable);
  environment.push_back(nullptr);
  const auto error = ::posix_spawn(&process_, WORDCOUNT_PROGRAM, &files, nullptr, argv.data(), environment.data());
  ::posix_spawn_file_actions_destroy(&files);
  if (error != 0)
    throw std::runtime_error("cannot start " WORDCOUNT_PROGRAM);
}

program::~program() {
  for (const auto worker : workers())
    ::kill(worker, SIGKILL);
  if (!is_waited_for_) {
    ::kill(process_, SIGKILL);
    static_cast<void>(wait());
  }
}

void program::signal(int number) const {
  ::kill(process_, number);
}

run_result program::wait() {
  int status = 0;
  ::waitpid(process_, &status, 0);
  is_waited_for_ = true;
  return {WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status), read_file(folder_ / "stdout"), errors()};
}

std::vector<pid_t> program::workers() const {
  std::vector<pid_t> found;
  const auto mark = mark_of(folder_);
  for (const auto& entry : std::filesystem::directory_iterator{"/proc"}) {
    const auto name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos || name == std::to_string(process_))
      continue;
    const auto state = state_of(name);
    if (!state.empty() && state[0] != 'Z' && environment_of(std::stoi(name)).starts_with(mark + '\0'))
      found.push_back(std::stoi(name));
  }
  return found;
}

std::vector<std::string> program::store_files() const {
  std::vector<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator{"/dev/shm"})
    if (entry.path().filename().string().find(".wordcount-" + std::to_string(process_) + "-") != std::string::npos)
      found.push_back(entry.path().filename().string());
  return found;
}

std::string program::errors() const {
  return read_file(folder_ / "stderr");
}

bool is_stopped(pid_t process) {
  return state_of(std::to_string(process)).starts_with('T');
}

std::vector<std::string> arguments_of(pid_t process) {
  std::istringstream all{read_file("/proc/" + std::to_string(process) + "/cmdline")};
  std::vector<std::string> arguments;
  for (std::string one; std::getline(all, one, '\0');)
    arguments.push_back(one);
  return arguments;
}

std::string environment_of(pid_t process) {
  return read_file("/proc/" + std::to_string(process) + "/environ");
}

bool eventually(const std::function<bool()>& condition) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline)
      return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file{path, std::ios::binary};
  try {
    return {std::istreambuf_iterator<char>{file}, {}};
  } catch (const std::ios_base::failure&) {
    return {}; // A process whose file in /proc was open has ended meanwhile.
  }
}

} // namespace wordcount::tests
