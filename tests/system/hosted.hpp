// Processes on simulated hosts: three hosts "a", "b" and "c", with two processes each, such as "a1" and "a2".
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "hosts.hpp"

namespace troupe::tests {

using namespace std::chrono_literals;

/// A system_hosted_peer process. It answers questions later, by number.
class hosted_peer {
public:
  explicit hosted_peer(processes::process process) : process_(std::move(process)) {}

  std::uint64_t ask(const std::string& what);
  /// The answer, or nullopt if it has not come.
  std::optional<std::string> answer(std::uint64_t number);
  /// How often pipelines have reached that point.
  int seen(const std::string& point);
  /// Reads what the process has written.
  void listen(std::chrono::milliseconds timeout = 0ms);

  struct question {
    std::string text;
    std::chrono::steady_clock::time_point asked;
  };
  /// The questions without an answer so far.
  [[nodiscard]] const std::map<std::uint64_t, question>& waiting() const noexcept { return waiting_; }
  /// All questions with their answers that have come and were not taken.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> take_answers();
  [[nodiscard]] processes::process& process() noexcept { return process_; }

private:
  processes::process process_;
  std::uint64_t last_ = 0;
  std::map<std::uint64_t, question> waiting_;
  std::map<std::uint64_t, std::pair<std::string, std::string>> answers_; // Not taken yet.
  std::map<std::string, int> seen_;
};

struct world_options {
  std::size_t store_bytes = 64u << 20;
  std::chrono::milliseconds grace = 10s;
  /// The heartbeat timeout of links.
  std::chrono::milliseconds silence = 20s;
  /// Whether the second processes have links of their own to other hosts.
  bool all_are_linked = false;
  /// Whether the first processes of the hosts are linked in a row: a - b - c.
  bool is_row = false;
};

/// The processes on their hosts. Each host's second process dials its first over a unix socket; processes of later
/// hosts dial those of earlier ones over TCP.
class world {
public:
  world(network& hosts, const world_options& options) : hosts_(hosts), options_(options) {}

  /// Starts the process and makes it dial. Does not wait for its links.
  void start(const std::string& name);
  void start_all();
  void kill(const std::string& name) { peers_.at(name)->process().kill(), peers_.erase(name); }
  [[nodiscard]] bool is_running(const std::string& name) const { return peers_.contains(name); }
  [[nodiscard]] hosted_peer& at(const std::string& name) { return *peers_.at(name); }

  std::uint64_t ask(const std::string& name, const std::string& what) { return at(name).ask(what); }
  /// Waits at most 60 s for the answer. Returns "nothing came" after that.
  std::string answer(const std::string& name, std::uint64_t number);
  /// Asks and waits for the answer.
  std::string told(const std::string& name, const std::string& what) { return answer(name, ask(name, what)); }

  /// Waits until pipelines have reached that point there `times` times.
  [[nodiscard]] bool comes_to(const std::string& name, const std::string& point, int times = 1);
  /// Waits until all running processes have the links that they should have, known to both ends. Cut links do not
  /// count.
  [[nodiscard]] bool is_linked();
  /// Waits until no process of either host has a link to the other that it believes to be open.
  [[nodiscard]] bool is_cut_off(const std::string& one, const std::string& other);
  /// Waits until the stores of all hosts are empty, while all processes keep dropping their references, even those that
  /// late pipelines bring. On failure, says what is left.
  [[nodiscard]] testing::AssertionResult nothing_is_left();
  /// The objects in the store of that process, their bytes, and the highest number of bytes so far.
  struct contents {
    std::uint64_t objects = 0, bytes = 0, most_bytes = 0;
  };
  [[nodiscard]] contents store_at(const std::string& name);
  /// Bytes sent through the socket so far.
  [[nodiscard]] std::uint64_t sent(const std::string& from, const std::string& to);
  /// Waits until that process would fetch all its missing bytes from `source`: handles that came by other nodes are
  /// adopted.
  [[nodiscard]] testing::AssertionResult has_all_from(const std::string& name, const std::string& source);
  /// Bytes of objects that the process has received over its current links.
  [[nodiscard]] std::uint64_t pulled_by(const std::string& name);
  /// Ends all running processes. Expects exit code 0 and nothing left in their hosts' /dev/shm.
  void end();

  [[nodiscard]] static std::string host_of(const std::string& name) { return name.substr(0, 1); }
  [[nodiscard]] static const std::vector<std::string>& names();

private:
  [[nodiscard]] std::vector<std::string> dialed_by(const std::string& name) const;
  [[nodiscard]] std::set<std::string> linked_with(const std::string& name);
  [[nodiscard]] std::string address(const std::string& from, const std::string& to) const;

  network& hosts_;
  const world_options options_;
  std::map<std::string, std::unique_ptr<hosted_peer>> peers_;
};

/// Waits for a condition. The default deadline allows for a busy machine.
[[nodiscard]] bool comes_true(const std::function<bool()>& condition, std::chrono::milliseconds timeout = 30s);

/// The answer to "get" for `count` numbers from `seed` on, with their sum.
[[nodiscard]] std::string sum_of(std::uint64_t count, std::uint64_t seed);

/// Simulates three hosts, or skips the test if that is impossible. Starts nothing on them.
class three_hosts : public testing::Test {
protected:
  void SetUp() override;
  void TearDown() override;
  /// Requires: at most one call per test.
  world& make(const world_options& options = {});

  std::unique_ptr<network> hosts_;
  std::unique_ptr<world> world_;
};

} // namespace troupe::tests
