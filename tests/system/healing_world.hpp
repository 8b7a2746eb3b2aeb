// Processes that are killed, stopped and cut off at random, and a count of what their clients get. TROUPE_SEED=<n>
// repeats the disturbances, but not how the processes interleave.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <caf/all.hpp>
#include <gtest/gtest.h>

#include <troupe/framework/node.hpp>
#include <troupe/framework/system_config.hpp>
#include <troupe/processes/descriptor.hpp>
#include <troupe/processes/listing.hpp>
#include <troupe/processes/process.hpp>

#include "../eventually.hpp"
#include "healing.hpp"

namespace troupe::tests {

using namespace std::chrono_literals;

constexpr std::chrono::seconds strategy_time{TROUPE_HEALING_SECONDS};
constexpr std::chrono::milliseconds service_time = strategy_time * 2 / 5;

/// What came of each request, by its number.
///
/// Threads: any.
class ledger {
public:
  void add(int number, std::string outcome) {
    const std::lock_guard guard{mutex_};
    ++counts_[outcome];
    if (!outcomes_.emplace(number, std::move(outcome)).second)
      ++counts_["a second answer"];
  }
  void add_error(int number, const caf::error& error) {
    if (error == caf::sec::request_timeout)
      return add(number, "no answer");
    const auto known = to_node_error(error);
    {
      const std::lock_guard guard{mutex_};
      texts_.emplace(to_string(known.code()), known.message());
    }
    add(number, to_string(known.code()));
  }

  [[nodiscard]] std::size_t count(const std::string& outcome) const {
    const std::lock_guard guard{mutex_};
    const auto found = counts_.find(outcome);
    return found == counts_.end() ? 0 : found->second;
  }
  [[nodiscard]] std::size_t total() const {
    const std::lock_guard guard{mutex_};
    return outcomes_.size();
  }
  [[nodiscard]] std::unordered_map<int, std::string> outcomes() const {
    const std::lock_guard guard{mutex_};
    return outcomes_;
  }

  /// Expects results, and no other outcomes than right results and those allowed.
  void expect_only(const std::vector<std::string>& allowed) const {
    const std::lock_guard guard{mutex_};
    EXPECT_TRUE(counts_.contains("right"));
    for (const auto& [outcome, count] : counts_)
      if (outcome != "right" && std::ranges::find(allowed, outcome) == allowed.end())
        ADD_FAILURE() << outcome << ": " << count << ' ' << (texts_.contains(outcome) ? texts_.at(outcome) : "");
  }

  friend std::ostream& operator<<(std::ostream& out, const ledger& what) {
    const std::lock_guard guard{what.mutex_};
    for (const auto& [outcome, count] : what.counts_)
      out << ' ' << outcome << ' ' << count;
    return out;
  }

private:
  mutable std::mutex mutex_;
  std::map<std::string, std::size_t> counts_;     // Guarded by mutex_.
  std::map<std::string, std::string> texts_;      // Guarded by mutex_.
  std::unordered_map<int, std::string> outcomes_; // Guarded by mutex_.
};

/// A thread that makes requests, some at a time, until it is told to stop. Then it waits for the answers.
class client {
public:
  /// If `arrays` is set, some requests carry arrays that are large enough for the store.
  client(caf::actor_system& system, caf::actor to, int first_number, bool arrays, ledger& answers)
      : thread_([=, this, &system, &answers] { ask(system, to, first_number, arrays, answers); }) {}

  void stop() { is_over_ = true; }

private:
  void ask(caf::actor_system& system, const caf::actor& to, int number, bool arrays, ledger& answers) {
    const caf::scoped_actor self{system};
    std::minstd_rand random{static_cast<unsigned>(number)};
    const auto of_number = [&](int which) { return self->request(to, answer_limit, which); };
    const auto of_array = [&](int which) {
      return self->request(to, answer_limit, std::vector<double>(array_size, which));
    };
    while (!is_over_) {
      std::vector<std::pair<int, decltype(of_number(0))>> numbers;
      std::vector<std::pair<int, decltype(of_array(0))>> sums;
      for (auto count = 1 + random() % window; count > 0; --count) {
        if (arrays && random() % 16 == 0)
          sums.emplace_back(number, of_array(number));
        else
          numbers.emplace_back(number, of_number(number));
        ++number;
      }
      for (auto& [which, asked] : numbers)
        asked.receive(
            [&, &which = which](int doubled) { answers.add(which, doubled == 2 * which ? "right" : "wrong"); },
            [&, &which = which](const caf::error& error) { answers.add_error(which, error); });
      for (auto& [which, asked] : sums)
        asked.receive(
            [&, &which = which](double sum) {
              answers.add(which, sum == static_cast<double>(array_size) * which ? "right" : "wrong");
            },
            [&, &which = which](const caf::error& error) { answers.add_error(which, error); });
      std::this_thread::sleep_for(std::chrono::microseconds{random() % 2'000}); // Leaves processors to the others.
    }
  }

  static constexpr auto answer_limit = 60s; // Longer than each limit of the product.
  static constexpr unsigned window = 8;
  static constexpr std::size_t array_size = 10'000;

  std::atomic<bool> is_over_ = false;
  std::jthread thread_; // The last member: it uses the others.
};

/// A node, the seed, and the processes of one test. The end of the test ends all of them, and expects that they leave
/// no files.
class healing : public testing::Test {
protected:
  healing() {
    const auto* given = std::getenv("TROUPE_SEED");
    const auto seed =
        given != nullptr ? static_cast<std::uint32_t>(std::strtoul(given, nullptr, 10)) : std::random_device{}();
    std::cout << "TROUPE_SEED=" << seed << std::endl;
    random_.seed(seed);
  }

  ~healing() override {
    for (const auto process : left()) {
      ADD_FAILURE() << "process " << process << " is left, in state " << processes::state_of(process);
      send(process, SIGKILL);
    }
    EXPECT_TRUE(eventually([this] { return left().empty(); }));
    for (const auto& file : files()) {
      ADD_FAILURE() << file << " is left";
      std::error_code ignored;
      std::filesystem::remove_all(file, ignored);
    }
  }

  std::size_t any(std::size_t below) { return random_() % below; }
  std::chrono::milliseconds up_to(std::chrono::milliseconds time) {
    return std::chrono::milliseconds{any(static_cast<std::size_t>(time.count()) + 1)};
  }

  /// The running processes of this test, also those that have only just been started.
  [[nodiscard]] std::vector<pid_t> left() const { return processes::with_variable(variable()); }
  [[nodiscard]] std::string variable() const { return "TROUPE_TEST_RUN=" + run_; }

  /// Sends the signal unless the process has ended. Another process with its number gets nothing.
  void send(pid_t process, int number) const {
    const processes::descriptor it{static_cast<int>(::syscall(SYS_pidfd_open, process, 0))};
    const auto variables = processes::environment_of(process);
    if (it && std::ranges::find(variables, variable()) != variables.end())
      ::syscall(SYS_pidfd_send_signal, it.number(), number, nullptr, 0);
  }

  /// Stops the process for a moment.
  void suspend(pid_t process) {
    send(process, SIGSTOP);
    suspended_.emplace_back(clock::now() + up_to(300ms), process);
  }
  /// Continues the processes whose moment is over, or all.
  void resume(bool all) {
    std::erase_if(suspended_, [&](const auto& one) {
      const auto is_over = all || clock::now() >= one.first;
      if (is_over)
        send(one.second, SIGCONT);
      return is_over;
    });
  }

  /// The next disturbance. Each of them comes once before one comes again.
  template <class Kind>
  Kind next_of(const std::vector<Kind>& kinds, std::vector<Kind>& rest) {
    if (rest.empty()) {
      rest = kinds;
      std::ranges::shuffle(rest, random_);
    }
    const auto next = rest.back();
    rest.pop_back();
    return next;
  }

  /// The files of this test in the folders that are shared with other programs.
  [[nodiscard]] std::vector<std::string> files() const {
    std::vector<std::string> found;
    for (const auto& folder : {std::filesystem::path{"/dev/shm"}, std::filesystem::temp_directory_path()})
      for (const auto& each : std::filesystem::directory_iterator(folder))
        if (each.path().filename().string().find(run_) != std::string::npos)
          found.push_back(each.path());
    return found;
  }

  using clock = std::chrono::steady_clock;

  const std::string run_ = name_of_run();
  std::mt19937 random_;

private:
  static std::string name_of_run() {
    static int count = 0;
    return "healing-" + std::to_string(::getpid()) + '-' + std::to_string(count++);
  }

  std::vector<std::pair<clock::time_point, pid_t>> suspended_;
};

/// An actor system with its node.
struct home {
  explicit home(const std::string& store)
      : node(troupe::node::open(system, types, families,
                                {.name = "home", .store = store::options{.name = store, .capacity_bytes = 64_MiB}})
                 .value()) {}

  type_registry types;
  family_set families;
  system_config config;
  caf::actor_system system{config};
  troupe::node node;
};

} // namespace troupe::tests
