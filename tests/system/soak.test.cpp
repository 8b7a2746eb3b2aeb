// Random actions for a while: processes on three hosts put, send, forward, read and drop objects. Processes are killed
// and restarted, and hosts are cut off from each other. TROUPE_SEED=<n> repeats the questions, but not how the
// processes interleave.
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <random>

#include "hosted.hpp"

namespace troupe::tests {
namespace {

using clock = std::chrono::steady_clock;

constexpr std::chrono::seconds soak_time{TROUPE_SOAK_SECONDS};
constexpr auto round_time = 60s;
constexpr std::size_t questions_max = 8; // At the same time, per process.

/// Returns the memory of the process alone. Pages of the store are shared, and stay taken once they have been used.
std::uint64_t own_bytes(pid_t process) {
  std::ifstream file{"/proc/" + std::to_string(process) + "/statm"};
  std::uint64_t total = 0, resident = 0, shared = 0;
  file >> total >> resident >> shared;
  return (resident - shared) * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

/// Returns the kind of an answer: "ok", or the name of the error.
std::string name_of(const std::string& answer) {
  if (answer == "ok nothing")
    return answer;
  return answer.starts_with("ok") ? "ok" : answer.substr(0, answer.find(':'));
}

class soak : public three_hosts {
protected:
  void SetUp() override {
    three_hosts::SetUp();
    const auto* given = std::getenv("TROUPE_SEED");
    const auto seed =
        given != nullptr ? static_cast<std::uint32_t>(std::strtoul(given, nullptr, 10)) : std::random_device{}();
    std::cout << "TROUPE_SEED=" << seed << std::endl;
    random_.seed(seed);
  }

  std::size_t any(std::size_t below) { return random_() % below; }
  bool one_in(std::size_t count) { return any(count) == 0; }
  std::string key() { return std::string(1, static_cast<char>('p' + any(8))); }
  const std::string& process() { return world::names()[any(world::names().size())]; }

  std::string question(const std::string& from) {
    switch (any(8)) {
    case 0:
    case 1: {
      const auto most = std::size_t{1} << any(18); // 1 MiB at most.
      return "put " + key() + ' ' + std::to_string(any(most)) + ' ' + std::to_string(any(1000));
    }
    case 2:
      return "drop " + key();
    case 3:
    case 4:
      return "get " + key() + ' ' + std::to_string(any(2) == 0 ? any(50) : any(5000));
    default:
      return "send " + key() + route(from);
    }
  }

  std::string route(const std::string& from) {
    static const std::vector<std::string> works{"pass", "read", "copy", "keep"};
    std::string hops;
    auto before = from;
    for (auto left = 1 + any(4); left > 0; --left) {
      auto next = process();
      while (next == before)
        next = process();
      hops += ' ' + next + ':' + works[any(works.size())];
      before = next;
    }
    return hops;
  }

  void ask_somebody() {
    const auto& name = process();
    if (world_->is_running(name) && world_->at(name).waiting().size() < questions_max) {
      world_->ask(name, question(name));
      ++asked_;
    }
  }

  void take_answers() {
    for (const auto& name : world::names()) {
      if (!world_->is_running(name))
        continue;
      auto& peer = world_->at(name);
      peer.listen();
      for (const auto& [what, answer] : peer.take_answers()) {
        const auto outcome = name_of(answer);
        static const std::set<std::string> known{"ok",
                                                 "ok nothing",
                                                 "error link_down",
                                                 "error object_lost",
                                                 "error fetch_timed_out",
                                                 "error store_full",
                                                 "error not_found"}; // A process that has just started.
        EXPECT_TRUE(known.contains(outcome)) << name << ": " << what << ": " << answer;
        ++outcomes_[outcome];
      }
    }
  }

  /// Kills a process, starts one, cuts a cable or mends one, or does nothing. One process of each host is never killed.
  void break_something() {
    const auto& name = process();
    const auto one = world::host_of(name), other = world::host_of(process());
    if (!world_->is_running(name)) {
      world_->start(name);
    } else if (one_in(3) && !survivors_.contains(name)) {
      take_answers();
      world_->kill(name);
      ++kills_;
    } else if (one != other && (hosts_->is_cut(one, other) || one_in(3))) {
      hosts_->is_cut(one, other) ? hosts_->mend(one, other) : hosts_->cut(one, other);
      ++cuts_;
    }
  }

  void run_for(std::chrono::seconds time) {
    auto next_break = clock::now();
    for (const auto end = clock::now() + time; clock::now() < end && !HasFailure();) {
      if (clock::now() > next_break) {
        break_something();
        next_break = clock::now() + std::chrono::milliseconds{any(150)};
      }
      for (int i = 0; i < 10; ++i)
        ask_somebody();
      world_->at(*survivors_.begin()).listen(1ms);
      take_answers();
    }
  }

  /// Restores all cables and processes, and waits for all answers. Expects that nothing is left after everything is
  /// dropped.
  void expect_nothing_left() {
    hosts_->mend_all();
    for (const auto& name : world::names())
      if (!world_->is_running(name))
        world_->start(name);
    for (const auto& name : world::names()) {
      const auto& waiting = world_->at(name).waiting();
      EXPECT_TRUE(comes_true([&] { return take_answers(), waiting.empty(); }, 120s))
          << name << " has not answered: " << waiting.begin()->second.text << " after "
          << std::chrono::duration_cast<std::chrono::seconds>(clock::now() - waiting.begin()->second.asked).count()
          << " s";
    }
    ASSERT_TRUE(world_->is_linked());
    EXPECT_TRUE(world_->nothing_is_left());
  }

  std::map<std::string, std::uint64_t> survivors_memory() {
    std::map<std::string, std::uint64_t> bytes;
    for (const auto& name : survivors_) {
      const auto pid = world_->at(name).process().number();
      bytes[name] = own_bytes(pid); // Includes the memory that the allocator keeps, as in any process.
      const auto in_use = world_->told(name, "trim");
      std::cout << name << " has " << bytes[name] / 1024 << " KiB, " << own_bytes(pid) / 1024
                << " KiB once what it does not use is given back; its heap in use: " << in_use << std::endl;
    }
    return bytes;
  }

  std::mt19937 random_;
  std::set<std::string> survivors_;
  std::uint64_t asked_ = 0, kills_ = 0, cuts_ = 0;
  std::map<std::string, std::uint64_t> outcomes_;
};

// Goal: every question is answered, nothing is left after everything is dropped, and no process grows.
// Method: each round has random actions, then quiet. The memory after the last round is compared with that after the
// first round.
TEST_F(soak, leaves_nothing_and_nobody_without_an_answer) {
  make({.store_bytes = 32u << 20, .grace = 500ms, .silence = 1s, .all_are_linked = one_in(2)});
  for (const auto* host : {"a", "b", "c"})
    survivors_.insert(host + std::to_string(1 + any(2)));
  std::map<std::string, std::uint64_t> first, last;
  for (auto left = soak_time; left > 0s && !HasFailure(); left -= std::min<std::chrono::seconds>(left, round_time)) {
    run_for(std::min<std::chrono::seconds>(left, round_time));
    expect_nothing_left();
    std::cout << asked_ << " questions, " << kills_ << " kills, " << cuts_ << " cuts and mends;";
    for (const auto& [outcome, count] : outcomes_)
      std::cout << ' ' << outcome << ' ' << count << ',';
    std::cout << std::endl;
    last = survivors_memory();
    if (first.empty())
      first = last;
  }
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) // Sanitizers keep freed memory.
  for (const auto& [name, bytes] : last)
    EXPECT_LE(bytes, first[name] + first[name] / 20 + (4u << 20)) << name;
#endif
}

} // namespace
} // namespace troupe::tests
