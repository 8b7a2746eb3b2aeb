// Goal: a node tells of the supervisors of its actor system, of their children, and of the ends of these.
#include <algorithm>
#include <optional>

#include <troupe/framework/internal/watch/supervisor_book.hpp>
#include <troupe/framework/node_activity.hpp>

#include <gtest/gtest.h>

#include "supervised_actors.hpp"
#include "two_nodes.hpp"

namespace troupe::tests {
namespace {

class supervisors : public testing::Test {
protected:
  ~supervisors() override = default;

  std::vector<supervisor_activity> seen() { return side_.home->activity({}).supervisors; }
  std::optional<supervisor_activity> seen(std::uint64_t actor) {
    for (auto& each : seen())
      if (each.actor == actor)
        return std::move(each);
    return std::nullopt;
  }
  /// Waits until the child is in that state.
  std::optional<child_activity> child_in(std::string_view state, const team& of, std::size_t which) {
    std::optional<child_activity> found;
    EXPECT_TRUE(eventually([&] {
      const auto supervisor = seen(of.handle().id());
      if (supervisor && supervisor->children.at(which).state == state)
        found = supervisor->children[which];
      return found.has_value();
    })) << "it is "
        << (seen(of.handle().id()) ? seen(of.handle().id())->children.at(which).state : "not there");
    return found;
  }

  side side_{{.name = "home", .store = std::nullopt}};
  caf::scoped_actor self_{side_.system};
};

TEST_F(supervisors, are_listed_with_their_children) {
  auto team = supervise(self_, {.strategy = restart::rest_for_one, .most = 7, .within = 2min})
                  .function(tally, 0)
                  .with({.name = "first"})
                  .function(tally, 1)
                  .with({.name = "second", .lifetime = lifetime::transient})
                  .start()
                  .value();
  ASSERT_TRUE(child_in("running", team, 0));
  ASSERT_TRUE(child_in("running", team, 1));
  const auto all = seen();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].actor, team.handle().id());
  EXPECT_EQ(all[0].name, "");
  EXPECT_EQ(all[0].parent, 0u);
  EXPECT_EQ(all[0].strategy, "rest_for_one");
  EXPECT_EQ(all[0].restarts_max, 7u);
  EXPECT_EQ(all[0].within_ms, 120'000);
  EXPECT_EQ(all[0].restarts, 0u);
  ASSERT_EQ(all[0].children.size(), 2u);
  EXPECT_EQ(all[0].children[0].name, "first");
  EXPECT_EQ(all[0].children[0].kind, "actor");
  EXPECT_EQ(all[0].children[0].actor, child_of(team, 0).id());
  EXPECT_EQ(all[0].children[0].reason, "");
  caf::anon_send(child_of(team, 1), std::string{"end"});
  ASSERT_TRUE(child_in("ended", team, 1));
  EXPECT_EQ(seen()[0].children[1].actor, 0u);
}

TEST_F(supervisors, tell_of_restarts_and_why) {
  auto team = supervise(self_, {.back_off = 1ms, .longest_back_off = 1ms}).function(tally, 0).start().value();
  ASSERT_TRUE(child_in("running", team, 0));
  caf::anon_send(child_of(team, 0), std::string{"crash"});
  ASSERT_TRUE(child_of(team, 0, 2));
  const auto child = child_in("running", team, 0);
  ASSERT_TRUE(child);
  EXPECT_EQ(child->restarts, 1u);
  EXPECT_EQ(child->reason, "crashed");
  EXPECT_EQ(seen(team.handle().id())->restarts, 1u);
}

TEST_F(supervisors, tell_of_children_that_wait_to_be_started_again) {
  auto team = supervise(self_, {.back_off = 1h, .longest_back_off = 1h}).function(tally, 0).start().value();
  ASSERT_TRUE(child_in("running", team, 0));
  caf::anon_send(child_of(team, 0), std::string{"crash"});
  const auto child = child_in("restarting", team, 0);
  ASSERT_TRUE(child);
  EXPECT_EQ(child->restarts, 0u);
  EXPECT_EQ(child->reason, "crashed");
}

TEST_F(supervisors, of_supervisors_name_their_parents) {
  auto team = supervise(self_, {})
                  .supervisor({.strategy = restart::one_for_all},
                              [](supervision& inner) { inner.function(tally, 0).with({.name = "leaf"}); })
                  .with({.name = "inner"})
                  .start()
                  .value();
  const auto inner = child_in("running", team, 0);
  ASSERT_TRUE(inner);
  EXPECT_EQ(inner->kind, "supervisor");
  const auto below = seen(inner->actor);
  ASSERT_TRUE(below);
  EXPECT_EQ(below->name, "inner");
  EXPECT_EQ(below->parent, team.handle().id());
  EXPECT_EQ(below->strategy, "one_for_all");
  EXPECT_EQ(below->children.at(0).name, "leaf");
}

TEST_F(supervisors, leave_when_they_end) {
  auto team = supervise(self_, {}).function(tally, 0).start().value();
  ASSERT_TRUE(child_in("running", team, 0));
  team.stop();
  EXPECT_TRUE(eventually([&] { return seen().empty(); }));
}

TEST_F(supervisors, are_left_out_if_the_query_leaves_them_out) {
  auto team = supervise(self_, {}).function(tally, 0).start().value();
  ASSERT_TRUE(child_in("running", team, 0));
  EXPECT_TRUE(side_.home->activity({.supervisors = false}).supervisors.empty());
}

TEST_F(supervisors, are_bounded_with_their_children) {
  auto team = supervise(self_, {}).function(tally, 0).with({.name = "many", .copies = 4'100}).start().value();
  ASSERT_TRUE(eventually([&] { return seen().size() == 1; }));
  const auto only = seen().at(0);
  EXPECT_EQ(only.children.size(), 4'000u);
  EXPECT_EQ(only.children_omitted, 100u);
  team.stop();
  EXPECT_TRUE(eventually([&] { return seen().empty(); }));
}

TEST_F(supervisors, show_the_processes_of_their_children) {
  auto team = supervise(self_, {})
                  .process(*side_.home, {.program = SUPERVISED_WORKER, .output = [](auto, bool) {}}, spawned{"squarer"})
                  .start()
                  .value();
  const auto child = child_in("running", team, 0);
  ASSERT_TRUE(child);
  EXPECT_EQ(child->kind, "process");
  EXPECT_EQ(ask<int>(side_.system, child_of(team, 0), std::string{"who"}).value_or(0),
            static_cast<int>(child->process));
}

class nobody final : public internal::watched_supervisor {
  supervisor_activity now() const override { return {}; }
};

TEST(supervisor_books, do_not_grow_with_supervisors_that_have_ended) {
  internal::supervisor_book book;
  const auto kept = std::make_shared<const nobody>();
  book.enter(kept);
  for (int i = 0; i < 10'000; ++i)
    book.enter(std::make_shared<const nobody>());
  EXPECT_LE(book.size(), 64u);
  EXPECT_EQ(book.all().size(), 1u);
}

} // namespace
} // namespace troupe::tests
