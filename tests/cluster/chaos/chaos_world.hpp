// A cluster of real processes on simulated hosts, with an etcd of three members.
#pragma once

#include "../etcd_server.hpp"
#include "chaos_hosts.hpp"
#include "history.hpp"
#include "history_check.hpp"

#include <chrono>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace troupe::tests {

/// What the test has of a cluster_worker process.
class worker_of_chaos {
public:
  worker_of_chaos(processes::process process, std::filesystem::path file)
      : process_(std::move(process)), reader_(std::move(file)) {}

  /// Waits until the process has joined. Throws std::runtime_error with its reason if it does not.
  void wait_until_ready();
  /// True once it has joined. Does not wait.
  [[nodiscard]] bool is_ready();
  /// Asks, and waits for the answer. Throws std::runtime_error if none comes.
  std::string told(const std::string& question);
  /// Lets it leave in order. Throws std::runtime_error if it does not.
  void leave();
  // The two halves of leave().
  void begin_to_leave();
  void wait_for_end();

  [[nodiscard]] processes::process& process() noexcept { return process_; }
  [[nodiscard]] const history& read() { return reader_.read(); }

private:
  processes::process process_;
  history_reader reader_;
  bool is_ready_ = false;
};

struct chaos_world_options {
  std::chrono::milliseconds lease{2'000};
  std::vector<std::string> nodes{"n0", "n1", "n2"};
};

/// Hosts "e0", "e1", "e2" with the members of an etcd, a host for each node, and the host "r" with the receiver of
/// acts. Every node is ready to own the singleton "clock", hosts the entities "ledger", serves "echo", and asks "echo"
/// and the entities; the receiver asks all three.
class chaos_world {
public:
  using clock = history_event::clock;
  using predicate = std::function<bool(const history_event&)>;

  /// Waits until every process has joined and acts are accepted. Throws std::runtime_error if that takes too long.
  explicit chaos_world(chaos_world_options options = {});

  [[nodiscard]] chaos_hosts& hosts() noexcept { return hosts_; }
  [[nodiscard]] etcd_server& etcd() noexcept { return *etcd_; }
  [[nodiscard]] const chaos_world_options& options() const noexcept { return options_; }

  void start(const std::string& name);
  void kill(const std::string& name);
  /// Lets it leave in order. Its requests may stay without an answer.
  void leave(const std::string& name);
  /// By SIGSTOP.
  void stop(const std::string& name);
  void go_on(const std::string& name);
  [[nodiscard]] bool runs(const std::string& name) const { return workers_.contains(name); }
  [[nodiscard]] worker_of_chaos& at(const std::string& name) { return *workers_.at(name); }

  void cut_from_etcd(const std::string& name);
  void mend_to_etcd(const std::string& name);

  /// Waits for an event that this process has written at `since` or later.
  [[nodiscard]] std::optional<history_event> event(const std::string& of, clock::time_point since,
                                                   const predicate& is_meant,
                                                   std::chrono::milliseconds limit = std::chrono::seconds{20});
  /// Waits until the cluster has told it to the process, such as "member_down n1".
  [[nodiscard]] std::optional<history_event> told(const std::string& of, clock::time_point since,
                                                  const std::string& text);
  /// Events that the process has written since then. Does not wait.
  [[nodiscard]] std::size_t count(const std::string& of, clock::time_point since, const predicate& is_meant);

  /// The node whose act as the clock was accepted last. Does not wait.
  [[nodiscard]] std::optional<std::string> owner();
  /// Waits for the next accepted act of the clock, which says who owns it.
  [[nodiscard]] history_event accepted_act(clock::time_point since = clock::now());
  /// The names of the entities that are asked.
  [[nodiscard]] std::set<std::string> entities();
  /// Waits until each entity has answered a request of "r" since then.
  [[nodiscard]] testing::AssertionResult entities_answer(clock::time_point since,
                                                         std::chrono::milliseconds limit = std::chrono::seconds{20});
  /// Waits until each running process knows exactly the running ones as members.
  [[nodiscard]] testing::AssertionResult know_each_other(std::chrono::milliseconds limit = std::chrono::seconds{20});

  /// Lets all processes wait for their last answers and leave, and checks their histories and those of all others.
  void check(history_expectations expected = {});

private:
  [[nodiscard]] worker_of_chaos& disturb(const std::string& name);
  [[nodiscard]] std::vector<std::string> words_of(const std::string& name) const;

  const chaos_world_options options_;
  chaos_hosts hosts_;
  std::unique_ptr<etcd_server> etcd_;
  std::map<std::string, std::unique_ptr<worker_of_chaos>> workers_;
  std::list<std::unique_ptr<worker_of_chaos>> ended_;
  std::map<std::string, int> runs_; // By name.
  std::set<std::string> disturbed_;
};

} // namespace troupe::tests
