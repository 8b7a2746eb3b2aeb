// Messages that wait to be encoded: their order, their limits, and which of them may be dropped.
#include <troupe/framework/internal/flow/encoding_lane.hpp>

#include <memory>

#include <gtest/gtest.h>

namespace troupe::internal {
namespace {

class waiting_to_be_encoded : public testing::Test {
protected:
  using lane_of_numbers = encoding_lane<std::unique_ptr<int>>;
  using entry = lane_of_numbers::entry;
  static constexpr std::uint64_t bytes_max = 1000;

  entry add(std::uint64_t receiver, std::uint64_t size_bytes, bool is_answer = false, bool is_large = true) {
    lane_of_numbers::waiting message{.receiver = receiver, .what = nullptr, .size_bytes = size_bytes};
    message.is_answer = is_answer;
    return lane.add(message, is_large, bytes_max);
  }

  lane_of_numbers lane;
};

TEST_F(waiting_to_be_encoded, small_messages_wait_behind_others_of_their_receiver_only) {
  EXPECT_EQ(add(1, 10, false, false), entry::passed);
  EXPECT_EQ(add(1, 10), entry::wakes);
  EXPECT_EQ(add(1, 10, false, false), entry::waits);
  EXPECT_EQ(add(2, 10, false, false), entry::passed);
  EXPECT_TRUE(lane.has(1));
  EXPECT_FALSE(lane.has(2));
}

TEST_F(waiting_to_be_encoded, the_one_in_work_keeps_its_place_until_it_is_done) {
  (void)add(1, 10);
  ASSERT_TRUE(lane.next());
  EXPECT_EQ(lane.bytes(), 10u);
  EXPECT_EQ(add(1, 10, false, false), entry::waits);
  EXPECT_TRUE(lane.done(1, 10, false));
  ASSERT_TRUE(lane.next());
  EXPECT_FALSE(lane.done(1, 10, false));
  EXPECT_TRUE(lane.is_idle());
  EXPECT_EQ(lane.bytes(), 0u);
}

TEST_F(waiting_to_be_encoded, a_message_is_let_in_while_half_of_the_room_is_free) {
  EXPECT_EQ(add(1, bytes_max / 2), entry::wakes);
  EXPECT_EQ(add(1, 5 * bytes_max), entry::waits);
  EXPECT_EQ(add(1, 1), entry::full);
  EXPECT_FALSE(lane.has_room(bytes_max));
}

TEST_F(waiting_to_be_encoded, answers_have_room_of_their_own) {
  (void)add(1, 2 * bytes_max);
  EXPECT_EQ(add(1, 1), entry::full);
  EXPECT_EQ(add(1, 2 * bytes_max, true), entry::waits);
  EXPECT_EQ(add(1, 1, true), entry::full);
}

TEST_F(waiting_to_be_encoded, a_dropped_message_makes_room) {
  (void)add(1, bytes_max / 2);
  (void)add(1, bytes_max);
  ASSERT_FALSE(lane.has_room(bytes_max));
  EXPECT_EQ(lane.drop_oldest(1)->size_bytes, bytes_max / 2);
  EXPECT_EQ(lane.drop_oldest(1)->size_bytes, bytes_max);
  EXPECT_EQ(lane.bytes(), 0u);
  EXPECT_TRUE(lane.has_room(bytes_max));
  EXPECT_FALSE(lane.has(1));
}

TEST_F(waiting_to_be_encoded, answers_and_what_is_in_work_and_others_messages_are_not_dropped) {
  (void)add(1, 10);
  ASSERT_TRUE(lane.next());
  (void)add(1, 20, true);
  (void)add(2, 30);
  EXPECT_FALSE(lane.drop_oldest(1));
  (void)add(1, 40);
  EXPECT_EQ(lane.drop_oldest(1)->size_bytes, 40u);
  EXPECT_EQ(lane.bytes(), 60u);
}

TEST_F(waiting_to_be_encoded, at_the_end_nothing_comes_in_and_what_is_there_goes_first) {
  auto ended = 0;
  (void)add(1, 10);
  lane.end([&] { ++ended; });
  EXPECT_EQ(add(1, 10), entry::refused);
  ASSERT_TRUE(lane.next());
  EXPECT_EQ(ended, 0);
  EXPECT_FALSE(lane.done(1, 10, false));
  EXPECT_EQ(ended, 1);
}

TEST_F(waiting_to_be_encoded, what_is_taken_at_the_links_end_does_not_count_any_more) {
  (void)add(1, 10);
  (void)add(2, 20, true);
  EXPECT_EQ(lane.take_all().size(), 2u);
  EXPECT_EQ(lane.bytes(), 0u);
  EXPECT_TRUE(lane.is_idle());
  EXPECT_EQ(add(1, 10), entry::refused);
}

} // namespace
} // namespace troupe::internal
