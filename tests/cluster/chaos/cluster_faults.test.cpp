// Goal: what each side sees of a fault is what the table "What happens when something fails" of guides/clusters.md
// says, and no promise is broken meanwhile. Method: one fault each, between real processes on simulated hosts with an
// etcd of three members.
#include "chaos_world.hpp"

#include <algorithm>
#include <iostream>

namespace troupe::tests {
namespace {

using namespace std::chrono_literals;
using kind = history_event::kind;
using clock = history_event::clock;

// etcd looks for leases that have ended twice a second, and the machine may be busy.
constexpr auto etcd_delay = 1500ms;

class a_disturbed_cluster : public testing::Test {
protected:
  void SetUp() override {
    if (const auto reason = permit_hosts(); !reason.empty())
      FAIL() << "this test needs root or user namespaces: " << reason;
    ASSERT_TRUE(etcd_server::is_there());
  }

  chaos_world& make(chaos_world_options options = {}) {
    world_ = std::make_unique<chaos_world>(std::move(options));
    return *world_;
  }

  /// The node that owns the clock.
  std::string owner() { return world_->accepted_act().by.substr(0, 2); }
  std::string another_node(const std::string& than) const {
    return *std::ranges::find_if(world_->options().nodes, [&](const auto& each) { return each != than; });
  }
  /// Waits for an act of a later owner than that of `before`.
  std::optional<history_event> act_of_next_owner(const history_event& before, clock::time_point since) {
    return world_->event("r", since, [&](const auto& each) {
      return is_act(each) && each.fence > before.fence && each.by != before.by;
    });
  }
  /// Expects that the process was told, and no later than `within` after `since`.
  void expect_told(const std::string& of, clock::time_point since, const std::string& text,
                   std::chrono::milliseconds within) {
    const auto found = world_->told(of, since, text);
    ASSERT_TRUE(found) << of << " was not told: " << text;
    const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(found->at - since);
    std::cout << of << " was told after " << took.count() << " ms: " << found->text << std::endl;
    EXPECT_LE(took, within) << text;
  }
  static bool is_act(const history_event& each) { return each.what == kind::accepted && each.name == "clock"; }
  static bool is_answer(const history_event& each) { return each.what == kind::answered && each.name == "echo"; }
  static bool is_failure(const history_event& each) { return each.what == kind::failed && each.name == "echo"; }
  /// Waits for so many more answers to requests for "echo" of this process.
  bool is_answered(const std::string& node, clock::time_point since, std::size_t times) {
    return world_
        ->event(node, since,
                [&, seen = std::size_t{0}, last = clock::time_point{}](const auto& each) mutable {
                  if (!is_answer(each) || each.at <= last)
                    return false;
                  last = each.at;
                  return ++seen >= times;
                })
        .has_value();
  }

  std::unique_ptr<chaos_world> world_;
};

TEST_F(a_disturbed_cluster, keeps_its_owner_while_its_etcd_loses_its_leader_and_a_wiped_member_is_added) {
  auto& world = make({.lease = 3s});
  const auto before = world.accepted_act();
  const auto begun = clock::now();
  const auto lost = world.etcd().leader();
  world.etcd().kill(lost);
  world.etcd().wipe(lost);
  world.etcd().add_again(lost);
  world.etcd().wait_until_healthy();
  world.etcd().kill((lost + 1) % 3); // Now nothing is committed without the new member.
  const auto later = world.accepted_act(clock::now() + world.options().lease + 100ms);
  EXPECT_EQ(later.fence, before.fence);
  EXPECT_TRUE(later.is_sure);
  EXPECT_EQ(world.count("r", begun, [](const auto& each) { return each.text.starts_with("member_down"); }), 0U);
  world.check();
}

// The row "a member cannot reach the directory, others can". While it is away, there are changes, and they are
// compacted.
TEST_F(a_disturbed_cluster, replaces_an_owner_that_has_lost_its_etcd_and_takes_it_back) {
  auto& world = make();
  const auto before = world.accepted_act();
  const auto lost = owner();
  const auto leaving = another_node(lost);
  const auto cut = clock::now();
  world.cut_from_etcd(lost);
  expect_told(lost, cut, "directory_lost", world.options().lease + etcd_delay);
  expect_told("r", cut, "member_down " + lost, world.options().lease + etcd_delay);
  const auto next = act_of_next_owner(before, cut);
  ASSERT_TRUE(next);
  EXPECT_TRUE(world.entities_answer(next->at));
  // Links and handles go on.
  EXPECT_TRUE(is_answered(lost, next->at, 10));
  EXPECT_EQ(world.count(lost, cut, is_failure), 0U);
  world.leave(leaving);
  ASSERT_TRUE(world.told("r", cut, "member_down " + leaving));
  EXPECT_TRUE(world.etcd().compact());
  const auto mended = clock::now();
  world.mend_to_etcd(lost);
  expect_told(lost, mended, "directory_found", 10s);
  expect_told("r", mended, "member_up " + lost, 10s);
  EXPECT_TRUE(world.know_each_other());
  world.check();
}

// The rows "the directory is away" and "the directory is back".
TEST_F(a_disturbed_cluster, has_no_owner_while_its_etcd_is_away_and_one_again_when_it_is_back) {
  auto& world = make();
  const auto before = world.accepted_act();
  const auto away = clock::now();
  world.etcd().kill(0);
  world.etcd().kill(1);
  for (const auto* each : {"n0", "n1", "n2", "r"})
    expect_told(each, away, "directory_lost", world.options().lease + etcd_delay);
  const auto is_unsure = [](const auto& each) {
    return each.what == kind::acted && each.name == "clock" && !each.is_sure;
  };
  EXPECT_TRUE(world.event(before.by.substr(0, 2), away, is_unsure));
  EXPECT_TRUE(is_answered("r", clock::now() + world.options().lease, 10));
  EXPECT_EQ(world.count("r", away, is_failure), 0U);
  EXPECT_EQ(world.count("r", away + world.options().lease, [](const auto& each) { return each.is_sure; }), 0U);
  EXPECT_EQ(world.count("r", away, [](const auto& each) { return each.text.starts_with("member_down"); }), 0U);
  const auto back = clock::now();
  world.etcd().start(0);
  world.etcd().start(1);
  for (const auto* each : {"n0", "n1", "n2", "r"})
    expect_told(each, back, "directory_found", 10s);
  EXPECT_TRUE(world.event("r", back,
                          [&](const auto& each) { return is_act(each) && each.is_sure && each.fence > before.fence; }));
  EXPECT_TRUE(world.know_each_other());
  world.check();
}

// The row "a member cannot reach another one, the directory is there".
TEST_F(a_disturbed_cluster, leads_services_around_a_cable_that_is_cut_between_two_members) {
  auto& world = make();
  const auto begun = clock::now();
  const auto is_from = [](const std::string& node) {
    return [node](const history_event& each) { return is_answer(each) && each.text == node; };
  };
  ASSERT_TRUE(world.event("n0", begun, is_from("n1")));
  const auto cut = clock::now();
  world.hosts().cut("n0", "n1");
  const auto noticed = world.event("n0", cut, is_failure);
  ASSERT_TRUE(noticed) << "requests to n1 should fail when the link's heartbeat_timeout is over";
  EXPECT_TRUE(noticed->text.starts_with("child_lost")) << noticed->text;
  std::cout << "the first request failed after "
            << std::chrono::duration_cast<std::chrono::milliseconds>(noticed->at - cut).count() << " ms" << std::endl;
  // A request that was sent at that moment may fail as well, but none that is sent later.
  EXPECT_TRUE(is_answered("n0", noticed->at + 1s, 30));
  EXPECT_EQ(world.count("n0", noticed->at + 500ms, is_failure), 0U);
  EXPECT_EQ(world.count("n0", cut + 200ms, is_from("n1")), 0U);
  for (const auto* each : {"n0", "n1", "r"})
    EXPECT_EQ(world.count(each, cut, [](const auto& one) { return one.text.starts_with("member_down"); }), 0U) << each;
  EXPECT_TRUE(world.know_each_other());
  const auto mended = clock::now();
  world.hosts().mend("n0", "n1");
  EXPECT_TRUE(world.event("n0", mended, is_from("n1")));
  EXPECT_TRUE(world.event("n1", mended, is_from("n0")));
  world.check();
}

TEST_F(a_disturbed_cluster, replaces_an_owner_that_is_cut_off_from_everything_and_takes_it_back) {
  auto& world = make();
  const auto before = world.accepted_act();
  const auto lost = owner();
  const auto cut = clock::now();
  for (const auto& each : world.hosts().names())
    if (each != lost)
      world.hosts().cut(lost, each);
  expect_told(lost, cut, "directory_lost", world.options().lease + etcd_delay);
  expect_told("r", cut, "member_down " + lost, world.options().lease + etcd_delay);
  ASSERT_TRUE(act_of_next_owner(before, cut));
  EXPECT_TRUE(is_answered(lost, clock::now(), 10)) << "by itself";
  const auto mended = clock::now();
  world.hosts().mend_all();
  expect_told(lost, mended, "directory_found", 10s);
  expect_told("r", mended, "member_up " + lost, 10s);
  EXPECT_TRUE(world.know_each_other());
  EXPECT_TRUE(world.event(lost, mended, [&](const auto& each) { return is_answer(each) && each.text != lost; }));
  world.check();
}

// The row "a process is stopped".
TEST_F(a_disturbed_cluster, refuses_the_acts_of_an_owner_that_was_stopped_for_longer_than_its_lease) {
  auto& world = make();
  const auto before = world.accepted_act();
  const auto stopped_node = owner();
  const auto stopped = clock::now();
  world.stop(stopped_node);
  expect_told("r", stopped, "member_down " + stopped_node, world.options().lease + etcd_delay);
  ASSERT_TRUE(act_of_next_owner(before, stopped));
  EXPECT_TRUE(world.entities_answer(clock::now()));
  const auto continued = clock::now();
  world.go_on(stopped_node);
  EXPECT_TRUE(world.event("r", continued,
                          [&](const auto& each) { return each.what == kind::refused && each.fence == before.fence; }));
  EXPECT_EQ(world.count(stopped_node, continued,
                        [&](const auto& each) {
                          return each.what == kind::acted && each.fence == before.fence && each.begun > continued
                                 && each.is_sure;
                        }),
            0U);
  expect_told("r", continued, "member_up " + stopped_node, 10s);
  EXPECT_TRUE(world.know_each_other());
  world.check();
}

// No request fails, and no state is lost, while members come and go in order.
TEST_F(a_disturbed_cluster, fails_no_request_to_an_entity_while_members_join_and_leave_in_order) {
  // A member that leaves passes on what waits for at most a quarter of the lease.
  auto& world = make({.lease = 4s});
  ASSERT_TRUE(world.entities_answer(clock::now())); // Each: the shards have come to rest.
  for (const auto* const each : {"n1", "n0"}) {
    world.leave(each);
    ASSERT_TRUE(world.entities_answer(clock::now()));
    world.start(each);
    world.at(each).wait_until_ready();
    ASSERT_TRUE(world.event(each, clock::now(), [](const auto& one) { return one.what == kind::handled; }))
        << each << " should get shards";
  }
  world.check({.is_orderly = true});
}

// The row "a process is killed".
TEST_F(a_disturbed_cluster, replaces_an_owner_that_is_killed_and_takes_the_same_name_back_at_once) {
  auto& world = make();
  const auto before = world.accepted_act();
  const auto killed_node = owner();
  const auto killed = clock::now();
  world.kill(killed_node);
  world.start(killed_node);
  world.at(killed_node).wait_until_ready();
  const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(clock::now() - killed);
  std::cout << "it was a member again after " << took.count() << " ms" << std::endl;
  const auto next =
      world.event("r", killed, [&](const auto& each) { return is_act(each) && each.fence > before.fence; });
  EXPECT_TRUE(next);
  EXPECT_TRUE(world.know_each_other());
  world.check();
}

} // namespace
} // namespace troupe::tests
