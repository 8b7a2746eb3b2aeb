// The benchmark as a real program with real processes: that it runs, what it writes, and that nothing of it is left
// behind, however it ends. How fast anything is, is not tested here.
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <boost/property_tree/json_parser.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench::tests {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

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

/// A run of the program in a temporary folder of its own.
class throughput : public testing::Test {
protected:
  throughput() {
    auto name = (std::filesystem::temp_directory_path() / "bench-test-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr)
      throw std::runtime_error("cannot make " + name);
    folder_ = name;
    std::filesystem::create_directory(folder_ / "tmp");
  }

  ~throughput() override {
    for (const auto process : processes())
      ::kill(process, SIGKILL);
    if (process_ > 0)
      ::waitpid(process_, nullptr, 0);
    std::filesystem::remove_all(folder_);
  }

  void start(const std::vector<std::string>& arguments) {
    posix_spawn_file_actions_t files;
    ::posix_spawn_file_actions_init(&files);
    ::posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    const auto output = folder_ / "output";
    const auto errors = folder_ / "errors";
    const auto flags = O_WRONLY | O_CREAT | O_TRUNC;
    ::posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, output.c_str(), flags, 0600);
    ::posix_spawn_file_actions_addopen(&files, STDERR_FILENO, errors.c_str(), flags, 0600);
    std::vector<std::string> texts{THROUGHPUT_PROGRAM};
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
    const auto error = ::posix_spawn(&process_, THROUGHPUT_PROGRAM, &files, nullptr, argv.data(), environment.data());
    ::posix_spawn_file_actions_destroy(&files);
    ASSERT_EQ(error, 0);
  }

  /// Waits for the program's end; -n when signal n killed it.
  int end() {
    int status = 0;
    ::waitpid(process_, &status, 0);
    process_ = -1;
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
  }

  int run(const std::vector<std::string>& arguments) {
    start(arguments);
    return end();
  }

  /// The processes of the program that run, without itself.
  std::vector<pid_t> processes() const {
    std::vector<pid_t> found;
    for (const auto& entry : std::filesystem::directory_iterator{"/proc"}) {
      const auto name = entry.path().filename().string();
      if (name.find_first_not_of("0123456789") == std::string::npos && name != std::to_string(process_)
          && read_file(entry.path() / "environ").starts_with(mark() + '\0'))
        found.push_back(std::stoi(name));
    }
    return found;
  }

  /// The files that a benchmark could have made; other programs come and go meanwhile.
  static std::set<std::string> shared_memory() {
    std::set<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator{"/dev/shm"})
      if (entry.path().filename().string().find("bench") != std::string::npos)
        found.insert(entry.path());
    return found;
  }

  void expect_nothing_left() const {
    EXPECT_TRUE(eventually([this] { return processes().empty(); }));
    EXPECT_TRUE(std::filesystem::is_empty(folder_ / "tmp"));
    for (const auto& file : shared_memory())
      EXPECT_TRUE(shared_memory_before_.contains(file)) << file;
  }

  /// Waits until both ends of a subject are there. Gives them in no order.
  std::vector<pid_t> both_ends() const {
    std::vector<pid_t> found;
    EXPECT_TRUE(eventually([&] {
      found = processes();
      return found.size() == 2;
    }));
    return found;
  }

  std::string mark() const { return "TMPDIR=" + (folder_ / "tmp").string(); }
  std::string output() const { return read_file(folder_ / "output"); }
  std::string errors() const { return read_file(folder_ / "errors"); }
  std::filesystem::path json() const { return folder_ / "results.json"; }

  const std::set<std::string> shared_memory_before_ = shared_memory();
  std::filesystem::path folder_;
  pid_t process_ = -1;
};

/// Long enough to be disturbed.
const std::vector<std::string> long_run{"--subjects", "raw-asio-unix", "--cases",    "one-way",
                                        "--messages", "1000000000",    "--deadline", "60"};

TEST_F(throughput, a_quick_run_has_a_line_of_json_for_each_subject_and_quantity) {
  EXPECT_EQ(run({"--quick", "--json", json().string()}), 0) << output() << errors();
  expect_nothing_left();
  std::set<std::string> quantities, subjects;
  std::size_t count = 0;
  std::istringstream lines{read_file(json())};
  for (std::string line; std::getline(lines, line); ++count) {
    boost::property_tree::ptree read;
    std::istringstream text{line};
    ASSERT_NO_THROW(boost::property_tree::read_json(text, read)) << line;
    EXPECT_THAT(read, SizeIs(8)) << line;
    EXPECT_EQ(read.get<std::string>("bench"), "throughput");
    EXPECT_NE(read.get<std::string>("unit"), "");
    EXPECT_GT(read.get<double>("min"), 0) << line;
    EXPECT_LE(read.get<double>("min"), read.get<double>("median")) << line;
    EXPECT_LE(read.get<double>("median"), read.get<double>("max")) << line;
    for (const auto& [peer, ratio] : read.get_child("ratio_to"))
      EXPECT_GT(ratio.get_value<double>(), 0) << line;
    quantities.insert(read.get<std::string>("case"));
    subjects.insert(read.get<std::string>("subject"));
  }
  EXPECT_THAT(quantities, SizeIs(8));
  EXPECT_EQ(count, quantities.size() * subjects.size());
  EXPECT_TRUE(subjects.contains("troupe-unix"));
  EXPECT_TRUE(subjects.contains("raw-asio-unix"));
  // Each of the others has a row, or it is said why not.
  for (const auto* other : {"troupe-tcp", "caf-basp", "caf-basp-sharing", "zeromq-ipc"})
    EXPECT_NE(subjects.contains(other), output().find(std::string{other} + " not available: ") != std::string::npos)
        << output();
}

TEST_F(throughput, only_what_is_asked_for_is_run) {
  EXPECT_EQ(run({"--quick", "--subjects", "raw-asio-unix,troupe-unix", "--cases", "echo"}), 0) << errors();
  EXPECT_THAT(output(), HasSubstr("pipelined echo"));
  EXPECT_THAT(output(), Not(HasSubstr("one-way")));
  EXPECT_THAT(output(), Not(HasSubstr("  zeromq-ipc")));
}

TEST_F(throughput, control_c_ends_all_processes) {
  start(long_run);
  both_ends();
  ::kill(process_, SIGINT);
  EXPECT_EQ(end(), 128 + SIGINT);
  expect_nothing_left();
}

TEST_F(throughput, a_killed_benchmark_leaves_no_process_behind) {
  start(long_run);
  both_ends();
  ::kill(process_, SIGKILL);
  EXPECT_EQ(end(), -SIGKILL);
  expect_nothing_left();
}

TEST_F(throughput, a_subject_that_dies_fails_at_once) {
  start(long_run);
  ::kill(both_ends().front(), SIGKILL);
  EXPECT_EQ(end(), 1);
  EXPECT_THAT(output(), HasSubstr("raw-asio-unix failed: "));
  EXPECT_THAT(output(), HasSubstr("its process was killed by signal 9"));
  expect_nothing_left();
}

TEST_F(throughput, a_subject_that_takes_too_long_is_given_up) {
  auto arguments = long_run;
  arguments.back() = "1";
  EXPECT_EQ(run(arguments), 1);
  EXPECT_THAT(output(), HasSubstr("raw-asio-unix failed: one-way 100000000: nothing came within 1000 ms"));
  expect_nothing_left();
}

TEST_F(throughput, a_floor_that_cannot_be_checked_is_missed) {
  EXPECT_EQ(run({"--quick", "--floors", "--subjects", "troupe-unix", "--cases", "one-way"}), 1);
  EXPECT_THAT(output(), HasSubstr("floor not checked: one-way small struct of troupe-unix at least 14 x caf-basp"));
}

TEST_F(throughput, unknown_subjects_are_refused) {
  EXPECT_EQ(run({"--subjects", "carrier-pigeons"}), 2);
  EXPECT_THAT(errors(), HasSubstr("carrier-pigeons"));
}

TEST_F(throughput, a_file_that_cannot_be_written_is_noticed_before_the_run) {
  EXPECT_EQ(run({"--json", (folder_ / "nowhere" / "results.json").string()}), 2);
  EXPECT_THAT(errors(), HasSubstr("cannot write"));
  EXPECT_THAT(output(), IsEmpty());
}

} // namespace
} // namespace bench::tests
