// Goal: each helper is made once, when it is first requested, and all end with the node.
#include <troupe/framework/internal/caf_port/actors/shared_helpers.hpp>

#include <set>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <caf/actor_cast.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/scoped_actor.hpp>

namespace troupe::internal {
namespace {

class helpers_of_all_links : public testing::Test {
protected:
  void expect_end(const caf::strong_actor_ptr& actor) {
    caf::scoped_actor waits{system_};
    waits->wait_for(caf::actor_cast<caf::actor>(actor));
  }

  caf::actor_system_config config_;
  type_registry types_;
  caf::actor_system system_{config_};
  std::vector<query_rights> asked_;
  shared_helpers helpers_{system_, types_, [this](const query_rights& rights) {
                            asked_.push_back(rights);
                            return query_answers{};
                          }};
};

TEST_F(helpers_of_all_links, are_made_once) {
  const auto runner = helpers_.task_runner();
  const auto spawner = helpers_.spawner();
  ASSERT_TRUE(runner);
  ASSERT_TRUE(spawner);
  EXPECT_NE(runner, spawner);
  EXPECT_EQ(helpers_.task_runner(), runner);
  EXPECT_EQ(helpers_.spawner(), spawner);
  helpers_.end();
  expect_end(runner);
  expect_end(spawner);
}

TEST_F(helpers_of_all_links, answer_what_their_askers_may_ask) {
  EXPECT_EQ(helpers_.inspector({}), nullptr);
  const auto memory = helpers_.inspector({.memory = true});
  const auto both = helpers_.inspector({.memory = true, .report = true});
  EXPECT_NE(memory, both);
  EXPECT_EQ(helpers_.inspector({.memory = true}), memory);
  EXPECT_EQ(asked_, (std::vector<query_rights>{{.memory = true}, {.memory = true, .report = true}}));
  helpers_.end();
}

TEST_F(helpers_of_all_links, are_known_from_others) {
  caf::scoped_actor stranger{system_};
  const auto spawner = helpers_.spawner();
  EXPECT_TRUE(helpers_.has(spawner));
  EXPECT_FALSE(helpers_.has(nullptr));
  EXPECT_FALSE(helpers_.has(caf::actor_cast<caf::strong_actor_ptr>(stranger)));
  helpers_.end();
  EXPECT_FALSE(helpers_.has(spawner));
}

TEST_F(helpers_of_all_links, have_ended_when_they_are_asked_for_too_late) {
  helpers_.end();
  const auto late = helpers_.task_runner();
  ASSERT_TRUE(late);
  expect_end(late);
}

TEST_F(helpers_of_all_links, are_the_same_for_all_who_ask_at_a_time) {
  std::vector<caf::strong_actor_ptr> got(8);
  {
    std::vector<std::jthread> askers;
    for (auto& each : got)
      askers.emplace_back([&] { each = helpers_.task_runner(); });
  }
  EXPECT_EQ(std::set(got.begin(), got.end()).size(), 1u);
  helpers_.end();
}

} // namespace
} // namespace troupe::internal
