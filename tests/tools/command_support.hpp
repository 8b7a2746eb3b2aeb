// Runs the `troupe` command as its users do, and nodes for it to look at.
#pragma once

#include <troupe/framework/node.hpp>
#include <troupe/store/inspection.hpp>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace troupe::tests {

using namespace std::chrono_literals;
using doubles = array<double>;

struct output {
  std::string text; // Of both streams.
  int status = -1;
};

/// What a line of the shell says.
[[nodiscard]] inline output run_line(const std::string& line) {
  auto result = output{};
  auto* const pipe = ::popen((line + " 2>&1").c_str(), "r");
  auto some = std::array<char, 4096>{};
  for (std::size_t count = 0; (count = std::fread(some.data(), 1, some.size(), pipe)) > 0;)
    result.text.append(some.data(), count);
  const auto status = ::pclose(pipe);
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return result;
}

[[nodiscard]] inline output run(const std::string& arguments) {
  return run_line(TROUPE_PROGRAM " " + arguments);
}

/// Of standard output alone: what is said beside the document is for people.
[[nodiscard]] inline nlohmann::json run_json(const std::string& arguments) {
  const auto answer = run_line("{ " TROUPE_PROGRAM " " + arguments + " --json 2>/dev/null; }");
  EXPECT_EQ(answer.status, 0) << answer.text;
  return nlohmann::json::parse(answer.text);
}

inline void expect_contains(const std::string& text, std::string_view part) {
  EXPECT_NE(text.find(part), std::string::npos) << "no \"" << part << "\" in\n" << text;
}

/// A folder for this process's stores, so that the command attaches to no others, whose tests would see that.
class store_folder {
public:
  store_folder() { ::mkdir(path_.c_str(), 0700); }
  store_folder(const store_folder&) = delete;
  store_folder& operator=(const store_folder&) = delete;
  ~store_folder() { ::rmdir(path_.c_str()); }

  [[nodiscard]] const std::string& path() const { return path_; }

private:
  const std::string path_ = "/dev/shm/troupe-command-" + std::to_string(::getpid());
};

[[nodiscard]] inline const std::string& folder() {
  static const store_folder only;
  return only.path();
}

struct program {
  explicit program(node_options options) : home(node::open(system, types, families, std::move(options)).value()) {
    types.add<object_ref<doubles>>("test.ref");
  }

  type_registry types;
  family_set families;
  system_config config;
  caf::actor_system system{config};
  node home;
};

[[nodiscard]] inline node_options options_of(const std::string& name) {
  return {.name = name,
          .listen = {"unix://@troupe-command-" + name + std::to_string(::getpid())},
          .store = store::options{
              .name = "troupe-command-" + std::to_string(::getpid()), .capacity_bytes = 16_MiB, .directory = folder()}};
}

/// A process that has a node and keeps 8,000 bytes in the store until it is killed. To be made before this process has
/// threads.
class other_process {
public:
  explicit other_process(const node_options& options) : store_(options.store->name) {
    auto ready = std::array<int, 2>{};
    EXPECT_EQ(::pipe(ready.data()), 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::close(ready[0]);
      program here{options};
      const auto kept = here.home.put(doubles(std::vector<double>(1'000))).value();
      const auto name = to_string(*kept.state()->source->place());
      [[maybe_unused]] const auto written = ::write(ready[1], name.data(), name.size());
      ::close(ready[1]);
      for (;;)
        ::pause();
    }
    ::close(ready[1]);
    auto text = std::array<char, 100>{};
    for (ssize_t count = 0; (count = ::read(ready[0], text.data(), text.size())) > 0;)
      object_.append(text.data(), static_cast<std::size_t>(count));
    ::close(ready[0]);
  }
  other_process(const other_process&) = delete;
  other_process& operator=(const other_process&) = delete;
  ~other_process() {
    signal(SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    static_cast<void>(store::clean(store_, folder())); // Where nobody else has it open.
  }

  void signal(int which) const {
    ::kill(pid_, which);
    int status = 0;
    if (which == SIGSTOP) { // Until all of its threads have stopped.
      EXPECT_EQ(::waitpid(pid_, &status, WUNTRACED), pid_);
    }
  }
  [[nodiscard]] const std::string& object() const { return object_; }
  [[nodiscard]] std::string pid() const { return std::to_string(pid_); }

private:
  const std::string store_;
  pid_t pid_ = 0;
  std::string object_;
};

inline const auto own = std::to_string(::getpid());

} // namespace troupe::tests
