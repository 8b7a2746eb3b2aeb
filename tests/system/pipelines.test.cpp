// Pipelines of references over three hosts; processes are killed and cables are cut at every point.
#include <algorithm>
#include <set>
#include <tuple>

#include "hosted.hpp"

namespace troupe::tests {
namespace {

/// Returns true if this is one of the errors that a pipeline or a fetch may give after a failure on its way.
bool is_error_by_name(const std::string& answer) {
  return answer.starts_with("error link_down: ") || answer.starts_with("error object_lost: ");
}

class pipelines : public three_hosts {};

TEST_F(pipelines, carry_references_through_all_processes_and_leave_nothing) {
  auto& peers = make();
  ASSERT_EQ(peers.told("a1", "put x 100000 0"), "ok");
  ASSERT_EQ(peers.told("a1", "send x a2:copy a1:pass b1:copy b2:copy b1:pass c1:copy c2:keep"), "ok arrived");
  EXPECT_EQ(peers.told("c2", "get x 10000"), sum_of(100'000, 4));
  EXPECT_TRUE(world_->nothing_is_left());
}

TEST_F(pipelines, that_go_in_circles_leave_nothing) {
  auto& peers = make({.all_are_linked = true});
  ASSERT_EQ(peers.told("a1", "put x 100000 0"), "ok");
  ASSERT_EQ(
      peers.told(
          "a1",
          "send x b1:pass c1:pass a1:pass a2:pass b2:pass c2:read a2:pass b1:copy c1:copy a1:copy a2:pass a1:keep"),
      "ok arrived");
  EXPECT_EQ(peers.told("a1", "get x 10000"), sum_of(100'000, 3));
  EXPECT_TRUE(world_->nothing_is_left());
}

// Method: each process adopts the handle from a1 before it continues. Otherwise the next process might ask one that has
// already released the handle, and then fetch the bytes through b1.
TEST_F(pipelines, copy_nothing_where_nobody_reads) {
  auto& peers = make();
  ASSERT_EQ(peers.told("a1", "put x 100000 0"), "ok");
  ASSERT_EQ(peers.told("b1", "hold arrived"), "ok ");
  const auto pipeline = peers.ask("a1", "send x b1:pass b2:pass b1:pass c1:keep");
  for (const auto& [here, times, next] : {std::tuple{"b1", 1, "b2"}, {"b2", 1, "b1"}, {"b1", 2, "c1"}}) {
    ASSERT_TRUE(peers.comes_to(here, "arrived", times));
    ASSERT_TRUE(peers.has_all_from(here, "a1"));
    ASSERT_EQ(peers.told(next, "hold arrived"), "ok ");
    ASSERT_EQ(peers.told(here, "go_on arrived"), "ok ");
  }
  ASSERT_EQ(peers.told("c1", "go_on arrived"), "ok ");
  ASSERT_EQ(peers.answer("a1", pipeline), "ok arrived");
  ASSERT_TRUE(peers.has_all_from("c1", "a1"));
  EXPECT_EQ(peers.told("c1", "get x 10000"), sum_of(100'000, 0));
  EXPECT_EQ(peers.store_at("b1").most_bytes, 0u);
  EXPECT_LT(peers.sent("b1", "c1"), 20'000u);
  EXPECT_LT(peers.sent("a1", "b1"), 20'000u);
  EXPECT_GT(peers.sent("a1", "c1"), 800'000u);
  ASSERT_EQ(peers.told("a1", "send x b1:read c1:pass"), "ok arrived");
  EXPECT_GE(peers.store_at("b1").most_bytes, 800'000u);
  EXPECT_TRUE(world_->nothing_is_left());
}

class pulls : public pipelines {
protected:
  /// All processes of b and c receive a reference to 8 MB of a1 over these routes, and each process asks for the bytes
  /// three times. Waits first until no process would fetch them through another host, because each process would pull
  /// such bytes for itself.
  void ask_for_all(const std::vector<std::string>& ways) {
    auto& peers = *world_;
    ASSERT_EQ(peers.told("a1", "put x 1000000 0"), "ok");
    for (const auto& each : ways)
      ASSERT_EQ(peers.told("a1", "send x " + each), "ok arrived");
    for (const auto* each : {"b1", "b2", "c1"})
      ASSERT_TRUE(peers.has_all_from(each, "a1"));
    ASSERT_TRUE(comes_true([&] { return peers.told("c2", "sources") != "ok b1 "; }));
    std::map<std::string, std::vector<std::uint64_t>> asked;
    for (int i = 0; i < 3; ++i)
      for (const auto* each : {"b1", "b2", "c1", "c2"})
        asked[each].push_back(peers.ask(each, "get x 20000"));
    for (const auto& [name, numbers] : asked)
      for (const auto number : numbers)
        EXPECT_EQ(peers.answer(name, number), sum_of(1'000'000, 0)) << name;
  }

  std::uint64_t sent_to(const std::string& host) {
    std::uint64_t bytes = 0;
    for (const auto* from : {"a1", "a2"})
      for (const auto* to : {"1", "2"})
        bytes += world_->sent(from, host + to);
    return bytes;
  }
};

TEST_F(pulls, bring_each_hosts_bytes_once_however_many_ask) {
  auto& peers = make();
  ask_for_all({"b1:keep b2:keep", "b1:pass c1:keep c2:keep"});
  for (const std::string host : {"b", "c"}) {
    EXPECT_LT(sent_to(host), 9'000'000u) << host;
    EXPECT_LT(peers.store_at(host + "1").most_bytes, 9'000'000u) << host;
  }
  EXPECT_TRUE(world_->nothing_is_left());
}

// Each process then has a different handle, but the object is the same.
TEST_F(pulls, bring_them_once_also_where_each_process_has_a_way_of_its_own) {
  auto& peers = make({.all_are_linked = true});
  ask_for_all({"b1:keep", "b2:keep", "c1:keep", "c2:keep"});
  for (const std::string host : {"b", "c"}) {
    EXPECT_LT(sent_to(host), 9'000'000u) << host;
    EXPECT_LT(peers.store_at(host + "1").most_bytes, 9'000'000u) << host;
    EXPECT_EQ(peers.pulled_by(host + "1") + peers.pulled_by(host + "2"), 8'000'000u) << host;
  }
  EXPECT_TRUE(world_->nothing_is_left());
}

// -- failures

struct moment {
  std::string where;
  std::string point;
  friend void PrintTo(const moment& one, std::ostream* to) { *to << one.point << " at " << one.where; }
};

std::vector<moment> moments() {
  std::vector<moment> all;
  for (const auto* where : {"b1", "b2", "c1"})
    for (const auto* point : {"arrived", "fetching", "fetched", "put", "sent"})
      all.push_back({where, point});
  return all;
}

class broken_pipelines : public pipelines, public testing::WithParamInterface<moment> {
protected:
  static constexpr std::uint64_t count = 200'000;
  static constexpr std::uint64_t copies = 3;

  /// Runs a pipeline up to the moment, calls `fail`, lets the pipeline continue, and returns its answer. Requires: a1
  /// stays alive.
  std::string break_in(const std::function<void()>& fail) {
    auto& peers = *world_;
    const auto [where, point] = GetParam();
    // A pipeline cannot be stopped while it fetches or sends; it is only slowed down.
    const auto is_moving = point == "fetching" || point == "sent";
    EXPECT_EQ(peers.told(where, (is_moving ? "watch " : "hold ") + point), "ok ");
    const auto before = (peers.at(where).listen(), peers.at(where).seen(point));
    if (point == "fetching") {
      hosts_->limit("a", "b", 200);
      hosts_->limit("b", "c", 200);
    }
    EXPECT_EQ(peers.told("a1", "put x " + std::to_string(count) + " 0"), "ok");
    const auto pipeline = peers.ask("a1", "send x b1:copy b2:copy b1:pass c1:copy c2:keep");
    EXPECT_TRUE(peers.comes_to(where, point, before + 1));
    fail();
    if (peers.is_running(where)) {
      EXPECT_EQ(peers.told(where, "go_on " + point), "ok ");
    }
    return peers.is_running("a1") ? peers.answer("a1", pipeline) : "";
  }

  /// If the pipeline arrived, expects that its values are correct, or that fetching them fails with an error of a known
  /// name.
  void expect_value_or_error(const std::string& answer, const std::string& what) {
    if (answer != "ok arrived") {
      EXPECT_TRUE(is_error_by_name(answer)) << what << ": " << answer;
    } else if (world_->is_running("c2")) {
      const auto value = world_->told("c2", "get x 10000");
      EXPECT_TRUE(value == sum_of(count, copies) || is_error_by_name(value)) << what << ": " << value;
    }
  }
};

INSTANTIATE_TEST_SUITE_P(at, broken_pipelines, testing::ValuesIn(moments()),
                         [](const auto& one) { return one.param.point + "_at_" + one.param.where; });

TEST_P(broken_pipelines, answer_whoever_is_killed_and_leave_nothing) {
  auto& peers = make({.grace = 200ms});
  for (const auto& victim : world::names()) {
    const auto answer = break_in([&] { peers.kill(victim); });
    if (victim == "a2") { // It has no part in the pipeline.
      EXPECT_EQ(answer, "ok arrived");
    }
    if (victim != "a1")
      expect_value_or_error(answer, victim + " was killed");
    EXPECT_TRUE(world_->nothing_is_left());
    peers.start(victim);
    ASSERT_TRUE(peers.is_linked());
    EXPECT_TRUE(world_->nothing_is_left());
  }
}

TEST_P(broken_pipelines, answer_whatever_is_cut_and_leave_nothing) {
  auto& peers = make({.grace = 200ms, .silence = 1s});
  for (const auto& [one, other] : {std::pair{"a", "b"}, {"b", "c"}, {"a", "c"}}) {
    const auto answer = break_in([&] { hosts_->cut(one, other); });
    expect_value_or_error(answer, std::string{one} + " and " + other + " were cut off from each other");
    EXPECT_TRUE(world_->nothing_is_left());
    ASSERT_TRUE(peers.is_cut_off(one, other)); // Otherwise a link might end later, during the next pipeline.
    hosts_->mend(one, other);
    ASSERT_TRUE(peers.is_linked());
    EXPECT_TRUE(world_->nothing_is_left());
  }
}

class broken_pulls : public pipelines {
protected:
  void SetUp() override {
    pipelines::SetUp();
    if (hosts_ && !hosts_->limit("a", "b", 100))
      GTEST_SKIP() << "there are no slow cables here";
  }

  /// b1 and b2 wait for the bytes of a1. Some of the bytes have arrived.
  void pull(const world_options& options) {
    auto& peers = make(options);
    ASSERT_EQ(peers.told("a1", "put x 1000000 0"), "ok");
    ASSERT_EQ(peers.told("a1", "send x b1:keep b2:keep"), "ok arrived");
    for (const auto* each : {"b1", "b2"})
      asked_[each] = peers.ask(each, "get x 50000");
    ASSERT_TRUE(comes_true([&] { return peers.sent("a1", "b1") + peers.sent("a1", "b2") > 1'000'000; }));
  }

  std::string answer_of(const std::string& name) { return world_->answer(name, asked_.at(name)); }

  std::map<std::string, std::uint64_t> asked_;
  const std::string whole_ = sum_of(1'000'000, 0);
};

TEST_F(broken_pulls, lose_what_a_killed_process_had_and_say_so) {
  pull({.grace = 200ms});
  world_->kill("a1");
  for (const auto* each : {"b1", "b2"})
    EXPECT_TRUE(answer_of(each).starts_with("error object_lost: ")) << each;
  EXPECT_TRUE(world_->nothing_is_left());
}

TEST_F(broken_pulls, are_nothing_to_a_process_that_lives_on_when_another_that_waits_is_killed) {
  pull({.grace = 200ms});
  world_->kill("b2");
  EXPECT_EQ(answer_of("b1"), whole_);
  EXPECT_TRUE(world_->nothing_is_left());
}

// Goal: if the process that forwarded a handle is killed, the holder finds the node with the bytes by itself.
TEST_F(broken_pulls, begin_again_at_their_exporter_when_the_process_that_passed_them_on_is_killed) {
  pull({.grace = 10s});
  world_->kill("b1");
  EXPECT_EQ(answer_of("b2"), whole_);
  EXPECT_TRUE(world_->nothing_is_left());
}

TEST_F(broken_pulls, begin_again_where_all_have_links_and_the_process_in_between_is_killed) {
  pull({.grace = 200ms, .all_are_linked = true});
  world_->kill("b1");
  EXPECT_EQ(answer_of("b2"), whole_);
  EXPECT_TRUE(world_->nothing_is_left());
}

// Goal: if a process waits for its neighbor's pull and the neighbor is killed during the pull, the waiting process
// loses nothing.
TEST_F(broken_pulls, that_a_neighbour_waits_for_are_its_own_when_who_pulls_is_killed) {
  auto& peers = make({.grace = 200ms, .all_are_linked = true});
  ASSERT_EQ(peers.told("a1", "put x 1000000 0"), "ok");
  for (const auto* each : {"b1", "b2"})
    ASSERT_EQ(peers.told("a1", "send x " + std::string{each} + ":keep"), "ok arrived");
  static_cast<void>(peers.ask("b1", "get x 50000"));
  ASSERT_TRUE(comes_true([&] { return peers.sent("a1", "b1") > 500'000; }));
  asked_["b2"] = peers.ask("b2", "get x 50000");
  ASSERT_TRUE(comes_true([&] { return peers.sent("a1", "b1") > 3'000'000; }));
  EXPECT_LT(peers.sent("a1", "b2"), 100'000u); // It waits.
  peers.kill("b1");
  EXPECT_EQ(answer_of("b2"), whole_);
  EXPECT_EQ(peers.pulled_by("b2"), 8'000'000u);
  EXPECT_EQ(peers.store_at("b2").objects, 1u);
  EXPECT_TRUE(world_->nothing_is_left());
}

TEST_F(broken_pulls, begin_again_when_a_cut_is_mended_within_the_grace) {
  pull({.grace = 30s, .silence = 1s});
  hosts_->cut("a", "b");
  ASSERT_TRUE(comes_true([&] { return world_->told("b1", "traffic a1").starts_with("error "); }));
  hosts_->mend("a", "b");
  for (const auto* each : {"b1", "b2"})
    EXPECT_EQ(answer_of(each), whole_) << each;
  EXPECT_TRUE(world_->nothing_is_left());
}

TEST_F(broken_pulls, are_lost_when_a_cut_is_not_mended) {
  pull({.grace = 200ms, .silence = 1s});
  hosts_->cut("a", "b");
  for (const auto* each : {"b1", "b2"})
    EXPECT_TRUE(answer_of(each).starts_with("error object_lost: ")) << each;
  EXPECT_TRUE(world_->nothing_is_left());
}

TEST_F(broken_pulls, notice_nothing_of_a_cut_that_is_mended_at_once) {
  pull({.grace = 200ms});
  hosts_->cut("a", "b");
  hosts_->mend("a", "b");
  for (const auto* each : {"b1", "b2"})
    EXPECT_EQ(answer_of(each), whole_) << each;
  EXPECT_TRUE(world_->nothing_is_left());
}

} // namespace
} // namespace troupe::tests
