#include <troupe/framework/internal/link/life_cycle.hpp>

#include <string>
#include <utility>

#include <gtest/gtest.h>

namespace troupe::internal {
namespace {

node_error down(std::string text) {
  return {node_errc::link_down, std::move(text)};
}

TEST(a_life_cycle, begins_with_the_greeting_and_goes_through_each_state) {
  link_mutex mutex;
  life_cycle life;
  EXPECT_EQ(life.now(), link_state::greeting);
  const auto held = mutex.lock();
  for (auto next : {link_state::open, link_state::closing, link_state::closed}) {
    ASSERT_TRUE(may_follow(life.now(), next));
    life.enter(held, next);
    EXPECT_EQ(life.now(), next);
  }
}

TEST(a_life_cycle, tells_once_what_became_of_the_opening) {
  life_cycle life;
  auto told = 0;
  life.tell({.opened = [&](const auto& result) { told += result ? 1 : 100; }, .ended = {}});
  life.finish_opening({});
  life.finish_opening(std::unexpected{down("too late")});
  EXPECT_EQ(told, 1);
}

TEST(a_life_cycle, tells_once_of_the_end) {
  life_cycle life;
  std::string told;
  life.tell({.opened = {}, .ended = [&](const node_error& reason) { told += reason.message(); }});
  life.tell_end(down("first"));
  life.tell_end(down("second"));
  EXPECT_EQ(told, "first");
}

} // namespace
} // namespace troupe::internal
