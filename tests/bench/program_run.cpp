#include "program_run.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <thread>

#include <boost/property_tree/json_parser.hpp>
#include <gmock/gmock.h>

namespace bench::tests {

namespace {

/// The files that a benchmark could have made; other programs come and go meanwhile.
std::set<std::string> shared_memory() {
  std::set<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator{"/dev/shm"})
    if (entry.path().filename().string().find("bench") != std::string::npos)
      found.insert(entry.path());
  return found;
}

} // namespace

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file{path, std::ios::binary};
  try {
    return {std::istreambuf_iterator<char>{file}, {}};
  } catch (const std::ios_base::failure&) {
    return {}; // A process whose file in /proc was open has ended meanwhile.
  }
}

bool eventually(const std::function<bool()>& condition) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline)
      return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

program_run::program_run(std::string program) : program_(std::move(program)), shared_memory_before_(shared_memory()) {
  auto name = (std::filesystem::temp_directory_path() / "bench-test-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr)
    throw std::runtime_error("cannot make " + name);
  folder_ = name;
  std::filesystem::create_directory(folder_ / "tmp");
}

program_run::~program_run() {
  for (const auto process : processes())
    ::kill(process, SIGKILL);
  if (process_ > 0)
    ::waitpid(process_, nullptr, 0);
  std::filesystem::remove_all(folder_);
}

void program_run::start(const std::vector<std::string>& arguments) {
  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  const auto output = folder_ / "output";
  const auto errors = folder_ / "errors";
  const auto flags = O_WRONLY | O_CREAT | O_TRUNC;
  ::posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, output.c_str(), flags, 0600);
  ::posix_spawn_file_actions_addopen(&files, STDERR_FILENO, errors.c_str(), flags, 0600);
  std::vector<std::string> texts{program_};
  texts.insert(texts.end(), arguments.begin(), arguments.end());
  // In the environment of the program and, inherited, of all that it starts: finds them after its death, too.
  const auto home = (folder_ / "tmp").string(); // So that what is left there is seen.
  std::vector<std::string> variables{mark(), "HOME=" + home, "XDG_RUNTIME_DIR=" + home};
  for (auto** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view known{*variable};
    if (!known.starts_with("TMPDIR=") && !known.starts_with("HOME=") && !known.starts_with("XDG_RUNTIME_DIR="))
      variables.emplace_back(known);
  }
  std::vector<char*> argv, environment;
  for (auto& text : texts)
    argv.push_back(text.data());
  for (auto& variable : variables)
    environment.push_back(variable.data());
  argv.push_back(nullptr);
  environment.push_back(nullptr);
  const auto error = ::posix_spawn(&process_, program_.c_str(), &files, nullptr, argv.data(), environment.data());
  ::posix_spawn_file_actions_destroy(&files);
  ASSERT_EQ(error, 0);
}

int program_run::end() {
  int status = 0;
  ::waitpid(process_, &status, 0);
  process_ = -1;
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

int program_run::run(const std::vector<std::string>& arguments) {
  start(arguments);
  return end();
}

bool program_run::has_ended() const {
  siginfo_t ended{};
  return ::waitid(P_PID, static_cast<id_t>(process_), &ended, WEXITED | WNOHANG | WNOWAIT) == 0 && ended.si_pid != 0;
}

std::vector<pid_t> program_run::processes() const {
  std::vector<pid_t> found;
  for (const auto& entry : std::filesystem::directory_iterator{"/proc"}) {
    const auto name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789") == std::string::npos && name != std::to_string(process_)
        && ('\0' + read_file(entry.path() / "environ")).find('\0' + mark() + '\0') != std::string::npos)
      found.push_back(std::stoi(name));
  }
  return found;
}

void program_run::expect_nothing_left() const {
  EXPECT_TRUE(eventually([this] { return processes().empty(); }));
  EXPECT_TRUE(std::filesystem::is_empty(folder_ / "tmp"));
  auto left = shared_memory();
  std::erase_if(left, [this](const auto& file) { return shared_memory_before_.contains(file); });
  // What others that run at the same time have there goes with them.
  EXPECT_TRUE(eventually([&] {
    std::erase_if(left, [](const auto& file) { return !std::filesystem::exists(file); });
    return left.empty();
  })) << testing::PrintToString(left);
}

std::vector<pid_t> program_run::both_ends() const {
  std::vector<pid_t> found;
  EXPECT_TRUE(eventually([&] {
    found = processes();
    return found.size() == 2;
  }));
  return found;
}

std::vector<boost::property_tree::ptree> program_run::results(const std::string& benchmark) const {
  std::vector<boost::property_tree::ptree> found;
  std::istringstream lines{read_file(json())};
  for (std::string line; std::getline(lines, line);) {
    auto& read = found.emplace_back();
    std::istringstream text{line};
    EXPECT_NO_THROW(boost::property_tree::read_json(text, read)) << line;
    if (read.count("reason") != 0) { // What has no results.
      found.pop_back();
      continue;
    }
    EXPECT_THAT(read, testing::SizeIs(8)) << line;
    EXPECT_EQ(read.get<std::string>("bench", ""), benchmark);
    EXPECT_NE(read.get<std::string>("case", ""), "");
    EXPECT_NE(read.get<std::string>("subject", ""), "");
    EXPECT_NE(read.get<std::string>("unit", ""), "");
    const auto is_difference = read.get<std::string>("case", "").contains(" - ");
    if (!is_difference) // Of two times, by which a quick run may be off by more than they differ.
      EXPECT_GT(read.get<double>("min", 0), 0) << line;
    EXPECT_LE(read.get<double>("min", 1), read.get<double>("median", 0)) << line;
    EXPECT_LE(read.get<double>("median", 1), read.get<double>("max", 0)) << line;
  }
  return found;
}

} // namespace bench::tests
