// Goal: members that come and go leave nothing behind in the others.
// Method: a crowd of processes joins, leaves in order, and is killed, as a seed says. Three processes stay; what they
// know, and their descriptors, threads and memory, are compared with what they were before.
#include "../../eventually.hpp"
#include "../etcd_server.hpp"
#include "chaos_world.hpp"
#include "seed.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <stdexcept>
#include <thread>

#include <unistd.h>

namespace troupe::tests {
namespace {

using namespace std::chrono_literals;
using clock = history_event::clock;

constexpr std::chrono::seconds crowd_time{TROUPE_CROWD_SECONDS};
constexpr std::size_t crowd_size = TROUPE_CROWD;
constexpr std::chrono::seconds crowd_lease{TROUPE_CROWD_LEASE_SECONDS};
constexpr auto change_pause = 50ms;
constexpr std::size_t joining_max = 8; // At the same time: the machine is one, not fifty.

struct usage {
  std::size_t descriptors = 0;
  std::size_t threads = 0;
  std::uint64_t bytes = 0;
};

usage usage_of(pid_t process) {
  const auto folder = std::filesystem::path{"/proc"} / std::to_string(process);
  const auto count = [&](const char* below) {
    return static_cast<std::size_t>(
        std::distance(std::filesystem::directory_iterator{folder / below}, std::filesystem::directory_iterator{}));
  };
  std::ifstream file{folder / "statm"};
  std::uint64_t total = 0, resident = 0, shared = 0;
  file >> total >> resident >> shared;
  return {count("fd"), count("task"), (resident - shared) * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE))};
}

std::ostream& operator<<(std::ostream& out, const usage& what) {
  return out << what.descriptors << " descriptors, " << what.threads << " threads, " << what.bytes / 1024 << " KiB";
}

class a_crowd : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_TRUE(etcd_server::is_there());
    // The members of this etcd share few cores with the crowd: its times are those by default.
    etcd_ = std::make_unique<etcd_server>(
        etcd_server_options{.members = 3, .words = {"--heartbeat-interval", "100", "--election-timeout", "1000"}});
    auto folder = (std::filesystem::temp_directory_path() / "troupe-crowd-XXXXXX").string();
    ASSERT_NE(::mkdtemp(folder.data()), nullptr);
    folder_ = folder;
  }

  void TearDown() override {
    workers_.clear();
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  void start(const std::string& name) {
    const auto file = (folder_ / (name + '.' + std::to_string(++runs_))).string();
    const auto address = "unix://" + (folder_ / (name + ".sock")).string();
    auto started =
        processes::process::start({.program = TROUPE_CLUSTER_WORKER,
                                   .words = {"cluster_worker", name, file, etcd_->address("crowd"), address, address,
                                             std::to_string(std::chrono::milliseconds{crowd_lease}.count()),
                                             "serve=echo", name.starts_with('s') ? "ask=service:echo" : "use=echo"},
                                   .input = processes::lines{},
                                   .output = processes::lines{}});
    if (!started)
      throw std::runtime_error(started.error());
    workers_.emplace(name, std::make_unique<worker_of_chaos>(*std::move(started), file));
  }

  void end(const std::string& name, bool in_order) {
    const auto found = workers_.extract(name);
    if (in_order)
      found.mapped()->leave();
    else
      found.mapped()->process().kill();
    std::filesystem::remove(folder_ / found.mapped()->read().run);
  }

  static std::vector<std::string> survivors() { return {"s0", "s1", "s2"}; }
  static std::string member(std::size_t number) { return "c" + std::to_string(number); }

  [[nodiscard]] std::string living() const {
    std::string all;
    for (const auto& [name, worker] : workers_)
      all += (all.empty() ? "" : " ") + name;
    return all;
  }

  void expect_that_survivors_know_the_living() {
    for (auto& [name, worker] : workers_)
      worker->wait_until_ready();
    for (const auto& each : survivors())
      EXPECT_TRUE(eventually([&] { return workers_.at(each)->told("members") == living(); }, 60s))
          << each << " knows " << workers_.at(each)->told("members") << "\nof " << living();
  }

  void end_the_crowd() {
    for (std::size_t each = 0; each < crowd_size; ++each)
      if (workers_.contains(member(each))) {
        workers_.at(member(each))->wait_until_ready();
        end(member(each), each % 2 == 0);
      }
  }

  std::vector<usage> usage_of_survivors() {
    std::vector<usage> all;
    for (const auto& each : survivors())
      all.push_back(usage_of(workers_.at(each)->process().number()));
    return all;
  }

  std::unique_ptr<etcd_server> etcd_;
  std::filesystem::path folder_;
  std::map<std::string, std::unique_ptr<worker_of_chaos>> workers_;
  int runs_ = 0;
};

TEST_F(a_crowd, leaves_nothing_in_the_members_that_stay) {
  seeded_choice choice;
  for (const auto& each : survivors())
    start(each);
  for (std::size_t each = 0; each < crowd_size; ++each) {
    if (each >= joining_max)
      workers_.at(member(each - joining_max))->wait_until_ready();
    start(member(each));
  }
  expect_that_survivors_know_the_living();
  end_the_crowd();
  expect_that_survivors_know_the_living();
  const auto before = usage_of_survivors(); // Now each has seen as many members as ever.

  std::size_t joined = 0, left = 0, killed = 0;
  for (const auto until = clock::now() + crowd_time; clock::now() < until;) {
    const auto name = member(choice.any(crowd_size));
    const auto joining = std::ranges::count_if(workers_, [](auto& each) { return !each.second->is_ready(); });
    if (!workers_.contains(name) && static_cast<std::size_t>(joining) < joining_max) {
      start(name);
      ++joined;
    } else if (workers_.contains(name) && workers_.at(name)->is_ready()) {
      const auto in_order = choice.any(2) == 0;
      end(name, in_order);
      ++(in_order ? left : killed);
    }
    std::this_thread::sleep_for(change_pause); // Time is what this waits for.
  }
  std::cout << joined << " joined, " << left << " left, " << killed << " were killed; " << workers_.size()
            << " are there" << std::endl;
  expect_that_survivors_know_the_living();
  end_the_crowd();
  expect_that_survivors_know_the_living();

  // Links to killed members end a moment later than their entries.
  std::vector<usage> after;
  const auto has_ended = [&] {
    after = usage_of_survivors();
    for (std::size_t each = 0; each < before.size(); ++each)
      if (after[each].descriptors > before[each].descriptors + 2 || after[each].threads > before[each].threads + 2)
        return false;
    return true;
  };
  EXPECT_TRUE(eventually(has_ended, 30s));
  for (std::size_t each = 0; each < before.size(); ++each) {
    std::cout << survivors()[each] << " had " << before[each] << "; it has " << after[each] << std::endl;
    EXPECT_LE(after[each].descriptors, before[each].descriptors + 2);
    EXPECT_LE(after[each].threads, before[each].threads + 2);
    EXPECT_LE(after[each].bytes, before[each].bytes + TROUPE_CROWD_GROWTH);
  }
  for (const auto& each : survivors())
    end(each, true);
}

} // namespace
} // namespace troupe::tests
