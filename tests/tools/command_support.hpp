// Nodes for the `troupe` command to inspect.
#pragma once

#include "running.hpp"

#include <troupe/framework/node.hpp>
#include <troupe/store/survey.hpp>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace troupe::tests {

using namespace std::chrono_literals;
using doubles = array<double>;

/// Parses standard output only; standard error is text for people.
[[nodiscard]] inline nlohmann::json run_json(const std::string& arguments) {
  const auto answer = run_line("{ " TROUPE_PROGRAM " " + arguments + " --json 2>/dev/null; }");
  EXPECT_EQ(answer.status, 0) << answer.text;
  return nlohmann::json::parse(answer.text);
}

/// A folder for this process's stores, so that the command does not attach to those of other tests, which would notice.
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

/// A process with a node that keeps 8,000 bytes in the store until it is killed. Requires: this process has no threads
/// yet.
class other_process {
public:
  explicit other_process(const node_options& options)
      : store_((*options.store)->name),
        process_(processes::process::fork([&](processes::line_channel& test) {
                   program here{options};
                   const auto kept = here.home.put(doubles(std::vector<double>(1'000))).value();
                   test.write_line(to_string(*internal::state_of(kept)->source->place()));
                   return ::pause();
                 }).value()),
        object_(process_.channel().read_line().value()) {}
  other_process(const other_process&) = delete;
  other_process& operator=(const other_process&) = delete;
  ~other_process() {
    process_.kill();
    static_cast<void>(store::clean(store_, folder())); // If no other process has it open.
  }

  void stop() { EXPECT_TRUE(process_.stop(10s)); }
  void go_on() { process_.go_on(); }
  [[nodiscard]] const std::string& object() const { return object_; }
  [[nodiscard]] std::string pid() const { return std::to_string(process_.number()); }

private:
  const std::string store_;
  processes::process process_;
  const std::string object_;
};

inline const auto own = std::to_string(::getpid());

} // namespace troupe::tests
