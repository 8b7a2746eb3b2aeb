// Tests which actors may run on the I/O thread, and for how many messages.
#include <troupe/framework/internal/caf_port/actor_paces.hpp>

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

namespace troupe::internal {
namespace {

using namespace std::chrono_literals;

class paces : public testing::Test {
protected:
  /// Lets an actor run `attempts` times, with `waiting` messages each time and `each` per message. Returns the number
  /// of messages that it handled on the I/O thread.
  std::uint32_t run(std::chrono::nanoseconds each, std::uint32_t waiting, int attempts) {
    std::uint32_t handled = 0;
    for (int i = 0; i < attempts; ++i) {
      const auto admitted = paces_.admit(&actor_);
      longest_ = std::max(longest_, each * std::min(admitted, waiting));
      handled += std::min(admitted, waiting);
      if (admitted > 0)
        paces_.took(&actor_, admitted, waiting >= admitted, each * std::min(admitted, waiting));
    }
    return handled;
  }

  actor_paces paces_;
  int actor_ = 0;
  std::chrono::nanoseconds longest_{0}; // The longest turn.
};

TEST_F(paces, an_unknown_actor_begins_with_a_few_messages) {
  EXPECT_EQ(paces_.admit(&actor_), actor_paces::messages_unknown);
}

TEST_F(paces, a_fast_actor_with_many_messages_soon_has_long_turns) {
  run(300ns, 1000, 20);
  EXPECT_EQ(paces_.admit(&actor_), actor_paces::messages_max);
}

TEST_F(paces, a_fast_actor_is_always_admitted) {
  EXPECT_EQ(run(300ns, 1, 1000), 1000u);
}

TEST_F(paces, an_actor_whose_pace_is_known_from_single_messages_has_no_turn_that_takes_long_when_many_come) {
  run(20us, 1, 1000);
  longest_ = 0ns;
  run(20us, 1000, 100);
  EXPECT_LE(longest_, 100us);
}

TEST_F(paces, an_actor_of_some_fifty_microseconds_a_message_is_run_for_one_at_a_time) {
  run(60us, 1000, 10);
  EXPECT_EQ(paces_.admit(&actor_), 1u);
}

TEST_F(paces, a_slow_actor_is_left_out_of_nearly_all) {
  EXPECT_LT(run(150us, 1000, 10'000), 30u);
}

TEST_F(paces, an_actor_that_has_become_fast_is_admitted_again) {
  run(150us, 1, 1000);
  run(1us, 1, 20'000);
  EXPECT_EQ(run(1us, 1, 1000), 1000u);
}

TEST_F(paces, an_actor_that_was_slow_once_is_not_left_out) {
  run(1us, 1, 1000);
  paces_.took(&actor_, 1, false, 1s);
  EXPECT_EQ(run(1us, 1, 1000), 1000u);
}

TEST_F(paces, actors_that_share_a_place_do_not_take_each_other_for_themselves) {
  std::vector<int> many(100'000);
  for (auto& each : many)
    for (int i = 0; i < 2; ++i)
      paces_.took(&each, 1, false, 1s);
  int fresh = 0;
  for (auto& each : many)
    fresh += paces_.admit(&each) > 0 ? 1 : 0;
  EXPECT_GT(fresh, 95'000); // They are forgotten, not taken for other actors.
}

} // namespace
} // namespace troupe::internal
