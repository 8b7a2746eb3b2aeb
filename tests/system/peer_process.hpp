// A process at the other end of a link, started, stopped and killed by a test.
#pragma once

#include <array>
#include <chrono>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

extern char** environ;

namespace troupe::tests {

using namespace std::chrono_literals;

inline bool eventually(const std::function<bool()>& condition) {
  auto deadline = std::chrono::steady_clock::now() + 10s;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline)
      return false;
    std::this_thread::sleep_for(1ms);
  }
  return true;
}

/// A system_peer that has said "ready". Ends with this object, by the end of its input, or by force.
class peer_process {
public:
  peer_process(const std::string& address, const std::string& store, const std::string& families) {
    int input[2], output[2];
    if (::pipe2(input, O_CLOEXEC) != 0 || ::pipe2(output, O_CLOEXEC) != 0)
      throw std::runtime_error("no pipes");
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, input[0], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, output[1], STDOUT_FILENO);
    std::string program = TROUPE_SYSTEM_PEER;
    std::array<std::string, 4> words{program, address, store, families};
    std::array<char*, 5> arguments{words[0].data(), words[1].data(), words[2].data(), words[3].data(), nullptr};
    auto failed = ::posix_spawn(&pid_, program.c_str(), &actions, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    ::close(input[0]);
    ::close(output[1]);
    input_ = input[1];
    char word[6] = {};
    auto got = failed == 0 ? ::read(output[0], word, 5) : -1;
    ::close(output[0]);
    if (got != 5 || std::string_view{word, 5} != "ready")
      throw std::runtime_error("the peer did not start");
  }

  ~peer_process() {
    ::close(input_);
    if (pid_ > 0) {
      EXPECT_EQ(end(), 0);
    }
  }

  void kill() {
    ::kill(pid_, SIGKILL);
    end();
  }

  /// As if the machine had no time for it, until `go_on`.
  /// Returns when all of its threads have stopped.
  void freeze() const {
    ::kill(pid_, SIGSTOP);
    int status = 0;
    EXPECT_TRUE(eventually([&] { return ::waitpid(pid_, &status, WUNTRACED | WNOHANG) == pid_; }));
    EXPECT_TRUE(WIFSTOPPED(status));
  }
  void go_on() const { ::kill(pid_, SIGCONT); }

  [[nodiscard]] pid_t pid() const noexcept { return pid_; }

  /// Waits for its end; 128 + signal for one that was killed.
  int end() {
    int status = 0;
    auto gone = eventually([&] { return ::waitpid(pid_, &status, WNOHANG) == pid_; });
    EXPECT_TRUE(gone) << "the peer does not end";
    if (!gone) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, &status, 0);
    }
    pid_ = -1;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }

private:
  pid_t pid_ = -1;
  int input_ = -1;
};

} // namespace troupe::tests
