// The limit on requests: room for answers that are expected or not consumed yet.
#include <troupe/framework/internal/flow/reply_room.hpp>

#include <gtest/gtest.h>

namespace troupe::internal {
namespace {

class replies : public testing::Test {
protected:
  replies() {
    room.set_bounds({.all = 1000, .of_receiver = 1000});
    room.count_consumed([this] { ++woken; }, nullptr);
  }

  int woken = 0;
  reply_room room;
};

TEST_F(replies, answers_are_expected_to_be_as_large_as_the_last_ones) {
  EXPECT_EQ(room.reserve(1), reply_room::estimate_min);
  room.answered(1, 900);
  EXPECT_EQ(room.reserve(1), 900u);
  for (int i = 0; i < 100; ++i)
    room.answered(1, 10);
  EXPECT_EQ(room.reserve(1), 256u);
}

TEST_F(replies, requests_find_no_room_while_enough_is_expected) {
  std::uint64_t reserved = 0;
  for (int i = 0; i < 4; ++i)
    reserved += room.reserve(3);
  EXPECT_EQ(room.bytes(), reserved);
  EXPECT_FALSE(room.has_room(1));
  room.unreserve(3, reserved);
  EXPECT_TRUE(room.has_room(1));
  EXPECT_EQ(room.bytes(), 0u);
}

TEST_F(replies, consumed_answers_make_room) {
  const auto expected = room.reserve(1);
  room.answered(2, 1000 - expected);
  auto owed = room.issue(1000 - expected);
  EXPECT_FALSE(room.has_room(1));
  owed = {};
  EXPECT_FALSE(room.has_room(1)); // Not before settle() is called.
  room.settle();
  EXPECT_TRUE(room.has_room(1));
  EXPECT_EQ(room.bytes(), expected);
}

TEST_F(replies, one_request_leaves_however_much_is_not_consumed) {
  room.answered(9, 5000);
  EXPECT_TRUE(room.has_room(1));
  const auto expected = room.reserve(1);
  EXPECT_FALSE(room.has_room(2));
  room.unreserve(1, expected);
  EXPECT_TRUE(room.has_room(2));
}

TEST_F(replies, answers_of_one_receiver_do_not_take_the_room_of_all) {
  room.set_bounds({.all = 10'000, .of_receiver = 300});
  const auto first = room.reserve(1);
  const auto second = room.reserve(1);
  EXPECT_FALSE(room.has_room(1));
  EXPECT_TRUE(room.has_room(2));
  room.unreserve(1, first + second);
  EXPECT_TRUE(room.has_room(1));
}

TEST_F(replies, who_wants_room_is_woken_once_by_the_next_answer_that_is_consumed) {
  for (int i = 0; i < 4; ++i)
    room.answered(1, 10);
  room.issue(10) = {};
  EXPECT_EQ(woken, 0);
  room.want(true);
  room.issue(10) = {};
  room.issue(10) = {};
  EXPECT_EQ(woken, 1);
  room.want(true);
  room.want(false);
  room.issue(10) = {};
  EXPECT_EQ(woken, 1);
}

TEST_F(replies, a_forgotten_receiver_stays_as_long_as_an_answer_is_expected) {
  const auto expected = room.reserve(1);
  room.forget(1);
  EXPECT_EQ(room.receivers(), 1u);
  room.unreserve(1, expected);
  EXPECT_EQ(room.receivers(), 0u);
  EXPECT_EQ(room.reserve(1), reply_room::estimate_min);
}

TEST_F(replies, a_receiver_that_is_asked_again_is_not_forgotten) {
  const auto first = room.reserve(1);
  room.forget(1);
  const auto second = room.reserve(1);
  room.unreserve(1, first + second);
  EXPECT_EQ(room.receivers(), 1u);
}

TEST_F(replies, what_comes_back_after_the_end_counts_nothing) {
  const auto expected = room.reserve(1);
  room.answered(1, 100);
  auto owed = room.issue(100);
  room.clear();
  owed = {};
  room.settle();
  room.unreserve(1, expected);
  EXPECT_EQ(room.bytes(), 0u);
}

} // namespace
} // namespace troupe::internal
