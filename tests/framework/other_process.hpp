// What has to be done by another process, since descriptors, memory or the user count.
#pragma once

#include <csignal>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace troupe::tests {

/// What a process of its own does with an address that it is told later; it says yes or no.
class other_process {
public:
  explicit other_process(const std::function<bool(const std::string&)>& work) {
    int in[2], out[2];
    if (::pipe2(in, O_CLOEXEC) != 0 || ::pipe2(out, O_CLOEXEC) != 0)
      throw std::runtime_error("no pipes");
    child_ = ::fork();
    if (child_ == 0) {
      ::close(in[1]);
      std::string address(64, '\0');
      if (::read(in[0], address.data(), 64) == 64) {
        const char answer = work(address.substr(0, address.find('\0'))) ? 'y' : 'n';
        [[maybe_unused]] auto written = ::write(out[1], &answer, 1);
        [[maybe_unused]] auto until = ::read(in[0], address.data(), 1);
      }
      ::_exit(0);
    }
    ::close(in[0]);
    ::close(out[1]);
    to_child_ = in[1];
    from_child_ = out[0];
  }
  ~other_process() {
    ::close(to_child_);
    ::close(from_child_);
    ::waitpid(child_, nullptr, 0);
  }
  other_process(const other_process&) = delete;
  other_process& operator=(const other_process&) = delete;

  bool says_yes(std::string address) {
    address.resize(64);
    char answer = 0;
    return ::write(to_child_, address.data(), 64) == 64 && ::read(from_child_, &answer, 1) == 1 && answer == 'y';
  }

private:
  pid_t child_ = -1;
  int to_child_ = -1;
  int from_child_ = -1;
};

/// The child of a fork, which does this and ends with the status that it gives; it is ended at the latest with this.
class child_process {
public:
  explicit child_process(const std::function<int()>& work) : child_(::fork()) {
    if (child_ == 0) {
      ::alarm(60);
      ::_exit(work());
    }
  }
  ~child_process() {
    if (child_ > 0) {
      ::kill(child_, SIGKILL);
      ::waitpid(child_, nullptr, 0);
    }
  }
  child_process(const child_process&) = delete;
  child_process& operator=(const child_process&) = delete;

  /// Its status; -1 where something else has ended it.
  int wait() {
    int status = 0;
    ::waitpid(std::exchange(child_, -1), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

private:
  pid_t child_;
};

} // namespace troupe::tests
