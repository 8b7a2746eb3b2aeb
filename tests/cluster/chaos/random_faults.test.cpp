// Goal: whatever faults come together, no promise of a cluster is broken, and it recovers when they end.
// Method: faults are chosen by a seed for a while, each for a random time. Then the histories of all processes are
// checked.
#include "chaos_world.hpp"
#include "seed.hpp"

#include <algorithm>
#include <functional>
#include <iostream>
#include <list>
#include <thread>

namespace troupe::tests {
namespace {

using namespace std::chrono_literals;
using clock = history_event::clock;

constexpr std::chrono::seconds chaos_time{TROUPE_CHAOS_SECONDS};
constexpr std::size_t faults_max = 3; // At the same time.

class random_faults : public testing::Test {
protected:
  void SetUp() override {
    if (const auto reason = permit_hosts(); !reason.empty())
      FAIL() << "this test needs root or user namespaces: " << reason;
    ASSERT_TRUE(etcd_server::is_there());
  }

  struct fault {
    std::string what;
    std::set<std::string> places; // No other fault may concern them meanwhile.
    clock::time_point until;
    std::function<void()> end;
  };

  /// True if the places are free, and are taken from now on.
  bool begin(std::string what, std::set<std::string> places, const std::function<void()>& start,
             std::function<void()> end) {
    for (const auto& each : faults_)
      if (std::ranges::any_of(places, [&](const auto& one) { return each.places.contains(one); }))
        return false;
    std::cout << shown_time() << what << std::endl;
    start();
    // Half of them are longer than a lease.
    const auto length =
        std::chrono::milliseconds{choice_.any(2) == 0 ? 50 + choice_.any(1'000) : 3'000 + choice_.any(1'500)};
    faults_.push_back({std::move(what), std::move(places), clock::now() + length, std::move(end)});
    return true;
  }

  void end(std::list<fault>::iterator which) {
    std::cout << shown_time() << "end of " << which->what << std::endl;
    which->end();
    faults_.erase(which);
  }

  bool begin_one() {
    auto& world = *world_;
    // Half of the faults are the owner's.
    const auto any_node = choice_.any_of(world.options().nodes);
    const auto node = choice_.any(2) == 0 ? world.owner().value_or(any_node) : any_node;
    switch (choice_.any(10)) {
    case 0:
    case 1:
      return begin(
          node + " is killed", {node}, [&] { world.kill(node); }, [&world, node] { world.start(node); });
    case 2:
    case 3:
      return begin(
          node + " is stopped", {node}, [&] { world.stop(node); }, [&world, node] { world.go_on(node); });
    case 4:
      return begin(
          node + " is cut from etcd", {node}, [&] { world.cut_from_etcd(node); },
          [&world, node] { world.mend_to_etcd(node); });
    case 5: {
      const auto other = choice_.any(2) == 0 ? std::string{"r"} : choice_.any_of(world.options().nodes);
      if (other == node)
        return false;
      return begin(
          node + " is cut from " + other, {node, other}, [&] { world.hosts().cut(node, other); },
          [&world, node, other] { world.hosts().mend(node, other); });
    }
    case 6: {
      std::size_t which = 0;
      return begin(
          "the leader of etcd is killed", {"etcd"},
          [&] {
            which = world.etcd().leader();
            world.etcd().kill(which);
            killed_member_ = which;
          },
          [&world, this] { world.etcd().start(killed_member_); });
    }
    case 7: {
      const auto which = choice_.any(3);
      return begin(
          "a member of etcd is stopped", {"etcd"}, [&] { world.etcd().freeze(which); },
          [&world, which] { world.etcd().thaw(which); });
    }
    case 8: {
      const auto one = "e" + std::to_string(choice_.any(3));
      const auto other = "e" + std::to_string((one[1] - '0' + 1) % 3);
      return begin(
          one + " is cut from " + other, {"etcd"}, [&] { world.hosts().cut(one, other); },
          [&world, one, other] { world.hosts().mend(one, other); });
    }
    default:
      std::cout << shown_time() << "etcd is compacted" << std::endl;
      return world.etcd().compact();
    }
  }

  std::string shown_time() const {
    return std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(clock::now() - begun_).count())
           + " ms: ";
  }

  /// Time itself is what this waits for: the processes act meanwhile.
  void disturb_until(clock::time_point until) {
    while (clock::now() < until) {
      if (faults_.size() < faults_max)
        begin_one();
      std::this_thread::sleep_for(std::chrono::milliseconds{choice_.any(400)});
      for (auto each = faults_.begin(); each != faults_.end();) {
        const auto one = each++;
        if (one->until < clock::now())
          end(one);
      }
    }
    while (!faults_.empty())
      end(faults_.begin());
  }

  seeded_choice choice_;
  clock::time_point begun_ = clock::now();
  std::list<fault> faults_;
  std::size_t killed_member_ = 0;
  std::unique_ptr<chaos_world> world_;
};

TEST_F(random_faults, break_no_promise_of_a_cluster) {
  world_ = std::make_unique<chaos_world>();
  begun_ = clock::now();
  disturb_until(begun_ + chaos_time);
  const auto healed = clock::now();
  // A lease that etcd began anew with a new leader, the margin, the spread; then the pauses between tries to reach the
  // directory and to dial, and between TCP's repetitions over a cable that was cut for up to 4 s.
  const auto lease = world_->options().lease;
  const auto recovery = 2 * lease + lease / 4 + lease / 10 + 6s;
  for (const auto* name : {"clock", "echo"})
    EXPECT_TRUE(world_->event(
        "r", healed, [&](const auto& each) { return each.what == history_event::kind::answered && each.name == name; },
        recovery));
  EXPECT_TRUE(world_->entities_answer(healed, recovery));
  EXPECT_TRUE(world_->know_each_other(30s));
  auto answering = world_->entities();
  answering.insert({"clock", "echo"});
  world_->check({.healed = healed, .recovery = recovery, .answering = std::move(answering)});
}

} // namespace
} // namespace troupe::tests
