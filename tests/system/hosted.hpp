// Processes on simulated hosts: three hosts "a", "b" and "c", two processes each, such as "a1" and "a2".
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

/// A system_hosted_peer. What it is asked is answered later, by number.
class hosted_peer {
public:
  explicit hosted_peer(processes::process process) : process_(std::move(process)) {}

  std::uint64_t ask(const std::string& what);
  /// The answer, when it has come.
  std::optional<std::string> answer(std::uint64_t number);
  /// How often pipelines have come to that point.
  int seen(const std::string& point);
  /// Takes what it has said.
  void listen(std::chrono::milliseconds timeout = 0ms);

  struct question {
    std::string text;
    std::chrono::steady_clock::time_point asked;
  };
  /// What is not answered.
  [[nodiscard]] const std::map<std::uint64_t, question>& waiting() const noexcept { return waiting_; }
  /// What was asked, and the answer, for all that have come and were not taken.
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
  /// How long a peer may be silent.
  std::chrono::milliseconds silence = 20s;
  /// Whether the second processes have links of their own with other hosts.
  bool all_are_linked = false;
  /// Whether the first processes of the hosts are linked in a row: a - b - c.
  bool is_row = false;
};

/// The processes on their hosts. The second of each host dials the first over a unix socket; over TCP those of the
/// later hosts dial those of the earlier ones.
class world {
public:
  world(network& hosts, const world_options& options) : hosts_(hosts), options_(options) {}

  /// Starts it, and has it dial. Its links come up by themselves.
  void start(const std::string& name);
  void start_all();
  void kill(const std::string& name) { peers_.at(name)->process().kill(), peers_.erase(name); }
  [[nodiscard]] bool is_running(const std::string& name) const { return peers_.contains(name); }
  [[nodiscard]] hosted_peer& at(const std::string& name) { return *peers_.at(name); }

  std::uint64_t ask(const std::string& name, const std::string& what) { return at(name).ask(what); }
  /// Waits for the answer; "nothing came" after a while.
  std::string answer(const std::string& name, std::uint64_t number);
  /// Asks and waits.
  std::string told(const std::string& name, const std::string& what) { return answer(name, ask(name, what)); }

  /// Waits until pipelines have come so often to that point there.
  [[nodiscard]] bool comes_to(const std::string& name, const std::string& point, int times = 1);
  /// Waits until all processes that run are linked as they are to be, and both ends know it.
  [[nodiscard]] bool is_linked();
  /// Waits until no process of either host has a link with the other that it believes to be open.
  [[nodiscard]] bool is_cut_off(const std::string& one, const std::string& other);
  /// Waits until the stores of all hosts are empty while everybody lets go of what it has, or gets from a pipeline that
  /// nobody waits for any more. Says what is left when they are not.
  [[nodiscard]] testing::AssertionResult nothing_is_left();
  /// Objects in the store of that process, bytes, and the most bytes that there ever were.
  struct contents {
    std::uint64_t objects = 0, bytes = 0, most_bytes = 0;
  };
  [[nodiscard]] contents store_at(const std::string& name);
  /// Socket bytes so far.
  [[nodiscard]] std::uint64_t sent(const std::string& from, const std::string& to);
  /// Waits until that process would have all bytes that it lacks from `source`: what came by way of others is adopted.
  [[nodiscard]] testing::AssertionResult has_all_from(const std::string& name, const std::string& source);
  /// Bytes of objects that have come there, over the links that it has now.
  [[nodiscard]] std::uint64_t pulled_by(const std::string& name);
  /// Ends all that run: their exit codes have to be 0, and nothing may be left in their hosts' /dev/shm.
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

/// Waits for a condition with a deadline that is far enough for a busy machine.
[[nodiscard]] bool comes_true(const std::function<bool()>& condition, std::chrono::milliseconds timeout = 30s);

/// The numbers from `seed` on have this sum.
[[nodiscard]] std::string sum_of(std::uint64_t count, std::uint64_t seed);

/// Three hosts, or a skipped test. Starts nothing on them.
class three_hosts : public testing::Test {
protected:
  void SetUp() override;
  void TearDown() override;
  /// Requires: once per test.
  world& make(const world_options& options = {});

  std::unique_ptr<network> hosts_;
  std::unique_ptr<world> world_;
};

} // namespace troupe::tests
