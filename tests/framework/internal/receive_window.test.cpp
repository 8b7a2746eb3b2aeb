// Messages that are received and not consumed: the time at which the peer gets credit, and the amount that is too much.
#include <troupe/framework/internal/flow/receive_window.hpp>

#include <algorithm>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace troupe::internal {
namespace {

using due_list = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

class receiving : public testing::Test {
protected:
  receipt take(std::uint64_t actor, std::uint64_t cost) {
    auto owed = window.received(actor, cost);
    EXPECT_TRUE(owed) << owed.error().message();
    return owed ? *std::move(owed) : receipt{};
  }

  std::atomic<int> woken = 0;
  receive_window window{{.window = 1600, .actor_window = 800}, [this] { ++woken; }};
};

TEST_F(receiving, little_is_gathered_before_the_peer_is_told) {
  take(1, 60);
  EXPECT_EQ(woken, 0);
  take(1, 60);
  EXPECT_EQ(woken, 1);
  EXPECT_EQ(window.take_due(), (due_list{{1, 120}}));
  EXPECT_EQ(window.take_due(), due_list{});
}

TEST_F(receiving, many_actors_with_little_each_are_reported_together) {
  for (std::uint64_t actor = 1; actor <= 4; ++actor)
    take(actor, 50);
  EXPECT_EQ(woken, 1);
  EXPECT_EQ(window.take_due().size(), 4u);
}

TEST_F(receiving, what_is_held_is_not_reported) {
  auto held = take(1, 700);
  EXPECT_EQ(window.unconsumed_bytes(), 700u);
  EXPECT_EQ(window.take_due(), due_list{});
  held = {};
  EXPECT_EQ(window.unconsumed_bytes(), 0u);
  EXPECT_EQ(window.take_due(), (due_list{{1, 700}}));
}

TEST_F(receiving, what_each_actor_has_not_consumed_is_known) {
  auto first = take(1, 60);
  auto second = take(1, 40);
  auto other = take(2, 10);
  take(3, 5);
  auto known = window.unconsumed();
  std::ranges::sort(known, {}, &unconsumed_by_actor::actor);
  ASSERT_EQ(known.size(), 2u) << "actor 3 has consumed everything";
  EXPECT_EQ(known[0].actor, 1u);
  EXPECT_EQ(known[0].messages, 2u);
  EXPECT_EQ(known[0].bytes, 100u);
  EXPECT_EQ(known[1].messages, 1u);
  second = {};
  EXPECT_EQ(window.unconsumed().size(), 2u);
  first = {};
  EXPECT_EQ(window.unconsumed().size(), 1u);
  auto many = std::vector<receipt>{};
  for (int i = 0; i < 600; ++i)
    many.push_back(take(4, 0));
  known = window.unconsumed();
  EXPECT_EQ(std::ranges::find(known, 4u, &unconsumed_by_actor::actor)->messages, 600u);
}

TEST_F(receiving, a_peer_without_credit_for_the_actor_is_refused) {
  auto first = take(1, 799);
  auto second = take(1, 5000); // It reaches the bound, and may exceed it.
  auto third = window.received(1, 1);
  ASSERT_FALSE(third);
  EXPECT_EQ(third.error().code(), node_errc::protocol_violation);
  EXPECT_EQ(third.error().message(), "the peer exceeded its credit for actor 1: 5,799 of 800 bytes unconsumed for the "
                                     "actor, 5,799 of 1,600 for the link");
}

TEST_F(receiving, a_small_message_after_a_large_one_that_was_consumed_is_let_in) {
  take(1, 5'000);
  EXPECT_EQ(window.take_due().size(), 1u);
  take(1, 1);
}

TEST_F(receiving, messages_may_come_in_another_order_than_they_were_let_leave_in) {
  auto large = take(1, 5'000); // The sender released it when 790 bytes were outstanding.
  auto small = take(1, 90);
  auto others = take(1, 700);
  EXPECT_FALSE(window.received(1, 10)) << "now there are 800";
}

TEST_F(receiving, a_peer_without_credit_on_the_link_is_refused) {
  auto first = take(1, 799);
  auto second = take(2, 799);
  auto third = take(3, 2);
  EXPECT_FALSE(window.received(4, 799));
}

TEST_F(receiving, consumed_but_not_reported_still_counts_for_the_peer) {
  take(1, 800);
  EXPECT_FALSE(window.received(1, 800)); // The peer has no credit yet, so it must not send.
  EXPECT_EQ(window.take_due().size(), 1u);
  EXPECT_TRUE(window.received(1, 1));
}

TEST_F(receiving, a_released_actor_is_reported_at_once_and_forgotten) {
  auto held = take(1, 10);
  window.release(1);
  EXPECT_EQ(window.take_due(), due_list{});
  EXPECT_EQ(window.actors(), 1u);
  woken = 0;
  held = {};
  EXPECT_EQ(woken, 1);
  EXPECT_EQ(window.take_due(), (due_list{{1, 10}}));
  EXPECT_EQ(window.actors(), 0u);
}

TEST_F(receiving, an_actor_that_is_referred_to_again_is_reported_as_rarely_as_before) {
  auto held = take(1, 10);
  window.release(1);
  auto again = take(1, 10);
  EXPECT_EQ(window.take_due(), due_list{});
  woken = 0;
  held = {};
  again = {};
  EXPECT_EQ(woken, 0);
  EXPECT_EQ(window.take_due(), due_list{});
}

TEST_F(receiving, receipts_may_outlive_the_window) {
  receipt held;
  {
    receive_window short_lived{{.window = 8, .actor_window = 8}, [] {}};
    held = *short_lived.received(1, 4);
  }
  held = {};
}

TEST(receiving_threads, nothing_is_lost_between_threads) {
  receive_window window{{.window = 1 << 20, .actor_window = 1 << 20}, [] {}};
  std::uint64_t reported = 0;
  std::uint64_t sent = 0;
  for (int round = 0; round < 50; ++round) {
    std::vector<receipt> all;
    for (std::uint64_t i = 0; i < 300; ++i, sent += 10)
      all.push_back(*window.received(i % 3, 10));
    auto consume = [&](std::size_t from) {
      for (auto i = from; i < all.size(); i += 2)
        all[i] = {};
    };
    std::thread one{consume, 0};
    std::thread other{consume, 1};
    for (const auto& [actor, bytes] : window.take_due())
      reported += bytes;
    one.join();
    other.join();
  }
  for (std::uint64_t actor = 0; actor < 3; ++actor)
    window.release(actor);
  for (const auto& [actor, bytes] : window.take_due())
    reported += bytes;
  EXPECT_EQ(reported, sent);
  EXPECT_EQ(window.actors(), 0u);
}

} // namespace
} // namespace troupe::internal
