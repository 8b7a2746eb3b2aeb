#include <troupe/framework/internal/link/negotiation.hpp>

#include <gtest/gtest.h>

namespace troupe::internal {
namespace {

using names = std::vector<std::string>;

class lists : public testing::Test {
protected:
  lists() { near_.open(both, both), far_.open(both, both); }

  /// Delivers the change of `from` to `to`. Returns whether `to` accepts it.
  static bool arrives(negotiation& from, negotiation& to, std::uint64_t number) {
    return to.is_in_turn(number) && to.change_peer(number, from.mine());
  }

  const family_names both{{"typed", "msgpack"}, {"typed", "msgpack"}};
  negotiation near_;
  negotiation far_;
};

TEST_F(lists, stay_accepted_until_the_peer_has_acknowledged) {
  auto number = near_.begin({{"typed"}, {"json", "typed"}});
  EXPECT_EQ(near_.accepted(), (names{"json", "typed", "msgpack"}));
  EXPECT_EQ(near_.mine().serializers, names{"typed"});
  ASSERT_TRUE(arrives(near_, far_, number));
  EXPECT_EQ(far_.theirs().deserializers, (names{"json", "typed"}));
  EXPECT_EQ(far_.take_acknowledgement(), number);
  EXPECT_EQ(far_.take_acknowledgement(), std::nullopt) << "once";
  EXPECT_TRUE(near_.settle(number, true));
  EXPECT_EQ(near_.accepted(), (names{"json", "typed"}));
  EXPECT_FALSE(near_.is_changing());
}

TEST_F(lists, are_acknowledged_behind_the_last_message_by_the_older_ones) {
  far_.add_waiting(far_.peer_epoch());
  far_.add_waiting(far_.peer_epoch());
  ASSERT_TRUE(arrives(near_, far_, near_.begin({{"typed"}, {"typed"}})));
  far_.add_waiting(far_.peer_epoch()); // Encoded by the new lists, so nothing waits for it.
  EXPECT_EQ(far_.take_acknowledgement(), std::nullopt);
  far_.remove_waiting(0);
  EXPECT_EQ(far_.take_acknowledgement(), std::nullopt);
  far_.remove_waiting(0);
  EXPECT_EQ(far_.take_acknowledgement(), 1u);
  EXPECT_TRUE(far_.is_in_turn(2));
}

TEST_F(lists, change_again_only_after_the_answer) {
  far_.add_waiting(0);
  ASSERT_TRUE(arrives(near_, far_, near_.begin({{"typed"}, {"typed"}})));
  EXPECT_FALSE(far_.is_in_turn(2));
  far_.remove_waiting(0);
  EXPECT_EQ(far_.take_acknowledgement(), 1u);
  EXPECT_TRUE(far_.is_in_turn(2));
  EXPECT_FALSE(far_.is_in_turn(1));
  EXPECT_FALSE(far_.is_in_turn(3));
}

TEST_F(lists, that_leave_nothing_in_common_change_nothing) {
  auto number = near_.begin({{"typed"}, {"typed"}});
  ASSERT_TRUE(arrives(near_, far_, number));
  // The far end's own change crosses this one; it would send only msgpack.
  negotiation stale;
  stale.open(both, both);
  const auto crossing = stale.begin({{"msgpack"}, {"typed"}});
  EXPECT_FALSE(near_.change_peer(crossing, stale.mine()));
  EXPECT_EQ(near_.theirs(), both);
  EXPECT_EQ(near_.take_acknowledgement(), std::nullopt);
  EXPECT_TRUE(near_.is_in_turn(2)) << "refused ones count";
}

TEST_F(lists, that_cross_are_both_refused_or_none) {
  const std::vector<names> choices = {{"typed"}, {"msgpack"}, {"typed", "msgpack"}};
  for (const auto& near_sends : choices)
    for (const auto& near_accepts : choices)
      for (const auto& far_sends : choices)
        for (const auto& far_accepts : choices) {
          negotiation near;
          negotiation far;
          near.open(both, both);
          far.open(both, both);
          const auto first = near.begin({near_sends, near_accepts});
          const auto second = far.begin({far_sends, far_accepts});
          const auto at_far = arrives(near, far, first);
          const auto at_near = arrives(far, near, second);
          EXPECT_EQ(at_far, at_near);
          EXPECT_TRUE(near.settle(first, at_far));
          EXPECT_TRUE(far.settle(second, at_near));
          EXPECT_EQ(near.mine(), far.theirs());
          EXPECT_EQ(far.mine(), near.theirs());
          EXPECT_TRUE(have_in_common(near.mine(), far.mine()));
        }
}

TEST_F(lists, that_are_refused_are_as_they_were) {
  auto number = near_.begin({{"typed"}, {"typed"}});
  EXPECT_TRUE(near_.settle(number, false));
  EXPECT_EQ(near_.mine(), both);
  EXPECT_EQ(near_.accepted(), both.deserializers);
}

TEST_F(lists, are_not_answered_unasked) {
  EXPECT_FALSE(near_.settle(0, true));
  EXPECT_FALSE(near_.settle(1, true));
  auto number = near_.begin(both);
  EXPECT_FALSE(near_.settle(number + 1, true));
  EXPECT_TRUE(near_.settle(number, true));
  EXPECT_FALSE(near_.settle(number, true)) << "twice";
}

TEST_F(lists, with_nothing_in_common_are_both_named) {
  EXPECT_EQ(nothing_in_common_text("near", {{"json"}, {"typed", "msgpack"}}, "far", {{"cereal"}, {"cereal"}}),
            "no family in common: far sends with [cereal], near accepts [typed, msgpack]; near sends with [json], far "
            "accepts [cereal]");
}

} // namespace
} // namespace troupe::internal
