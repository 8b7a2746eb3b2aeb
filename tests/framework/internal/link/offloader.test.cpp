// Large messages are kept for the encoder, in order with other messages to the same receiver.
#include <troupe/framework/internal/link/offloader.hpp>

#include <optional>
#include <string>
#include <vector>

#include "way_out.hpp"

namespace troupe::internal {
namespace {

class offloading_messages : public offloading_way_out {
protected:
  using kind = offload_verdict::kind;

  offloading_messages() { bound_waiting(4000); }

  /// Offers a message to the offloader, in an actor.
  kind take(std::string text, std::uint64_t receiver = 3, caf::message_id id = caf::make_message_id()) {
    in_actor([&] {
      auto what = element(nullptr, id, std::move(text));
      last_ = offloads_.take(receiver, what);
      EXPECT_EQ(what == nullptr, last_.what == kind::kept);
    });
    return last_.what;
  }
  static std::string text_of(const offloaded_message& message) {
    return message.what.element->content().get_as<std::string>(0).substr(0, 5);
  }
  /// Does the encoder's work for each kept message until none is left. Returns their texts.
  std::vector<std::string> encoded() {
    std::vector<std::string> texts;
    while (auto next = offloads_.next()) {
      texts.push_back(text_of(*next));
      (void)offloads_.done(next->receiver, next->size_bytes, next->is_answer);
    }
    return texts;
  }

  offloader offloads_{offloading()};
  offload_verdict last_;
};

TEST_F(offloading_messages, large_ones_are_kept_and_wake_the_encoder) {
  EXPECT_EQ(take(large), kind::kept);
  EXPECT_TRUE(last_.wakes_encoder);
  EXPECT_EQ(encoded(), std::vector<std::string>{"LLLLL"});
  EXPECT_TRUE(encoding.is_idle());
}

TEST_F(offloading_messages, small_ones_are_not) {
  EXPECT_EQ(take("small"), kind::here);
  EXPECT_TRUE(encoding.is_idle());
}

TEST_F(offloading_messages, threads_of_the_users_own_encode_themselves) {
  auto what = element(nullptr, caf::make_message_id(), large);
  EXPECT_EQ(offloads_.take(3, what).what, kind::here);
  EXPECT_NE(what, nullptr);
  EXPECT_TRUE(offloads_.takes_nothing());
}

TEST_F(offloading_messages, none_is_kept_where_none_is_large) {
  in_actor([&] {
    EXPECT_FALSE(offloads_.takes_nothing());
    enough_bytes = 0;
    EXPECT_TRUE(offloads_.takes_nothing());
  });
  EXPECT_EQ(take(large), kind::here);
}

TEST_F(offloading_messages, later_ones_to_the_same_receiver_stay_behind) {
  EXPECT_EQ(take(large), kind::kept);
  EXPECT_EQ(take("small"), kind::kept);
  EXPECT_EQ(take("other", 4), kind::here);
  EXPECT_FALSE(gate.is_ready(3));
  EXPECT_EQ(encoded(), (std::vector<std::string>{"LLLLL", "small"}));
  EXPECT_TRUE(gate.is_ready(3));
}

TEST_F(offloading_messages, beyond_the_bound_they_are_refused_with_the_numbers) {
  EXPECT_EQ(take(large), kind::kept);
  EXPECT_EQ(take(large), kind::kept);
  EXPECT_EQ(take(large), kind::refused);
  ASSERT_TRUE(last_.reason);
  EXPECT_EQ(last_.reason->code(), node_errc::link_busy);
  EXPECT_NE(last_.reason->message().find("wait to be encoded, limit 4,000 (window_bytes and queue_bytes)"),
            std::string::npos)
      << last_.reason->message();
}

TEST_F(offloading_messages, answers_have_a_bound_of_their_own) {
  EXPECT_EQ(take(large), kind::kept);
  EXPECT_EQ(take(large), kind::kept);
  EXPECT_EQ(take(large, 3, caf::make_message_id(1).response_id()), kind::kept);
}

TEST_F(offloading_messages, the_oldest_makes_room_where_the_policy_says_so) {
  options.when_full = when_full::drop_oldest;
  EXPECT_EQ(take("first" + large), kind::kept);
  EXPECT_EQ(take(large), kind::kept);
  EXPECT_TRUE(last_.dropped.empty());
  EXPECT_EQ(take(large), kind::kept);
  ASSERT_EQ(last_.dropped.size(), 1u);
  EXPECT_EQ(text_of(last_.dropped[0]), "first");
}

TEST_F(offloading_messages, a_link_that_is_being_closed_keeps_none) {
  encoding.end([] {});
  EXPECT_EQ(take(large), kind::refused);
  EXPECT_EQ(last_.reason->code(), node_errc::link_down);
}

TEST_F(offloading_messages, what_is_left_at_the_end_is_given_back) {
  EXPECT_EQ(take(large), kind::kept);
  const auto left = offloads_.take_all();
  ASSERT_EQ(left.size(), 1u);
  EXPECT_EQ(text_of(left[0]), "LLLLL");
  EXPECT_FALSE(offloads_.next());
}

} // namespace
} // namespace troupe::internal
