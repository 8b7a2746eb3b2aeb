// The messages that wait for the actor of a lasting handle.
#include <troupe/framework/internal/lasting/waiting_messages.hpp>

#include <vector>

#include <caf/mailbox_element.hpp>
#include <gtest/gtest.h>

namespace troupe::internal {
namespace {

using namespace std::chrono_literals;

class messages_that_wait : public testing::Test {
protected:
  waiting_messages::entry entry(int value, std::chrono::milliseconds since, std::uint64_t bytes = 10) {
    return {.message = caf::make_mailbox_element(nullptr, caf::make_message_id(), {}, value),
            .since = begin_ + since,
            .bytes = bytes};
  }
  static std::vector<int> values(const std::deque<waiting_messages::entry>& of) {
    std::vector<int> all;
    for (const auto& each : of)
      all.push_back(each.message->content().get_as<int>(0));
    return all;
  }

  const waiting_messages::clock::time_point begin_{};
  waiting_messages waiting_{100};
};

TEST_F(messages_that_wait, keep_their_order) {
  for (auto value = 0; value < 5; ++value)
    waiting_.add(entry(value, 0ms));
  EXPECT_EQ(values(waiting_.take_all()), (std::vector{0, 1, 2, 3, 4}));
  EXPECT_TRUE(waiting_.empty());
  EXPECT_EQ(waiting_.bytes(), 0u);
}

TEST_F(messages_that_wait, return_in_front_of_later_ones) {
  waiting_.add(entry(1, 0ms));
  waiting_.add(entry(2, 0ms));
  static_cast<void>(waiting_.take_first());
  auto taken = waiting_.take_first();
  waiting_.add(entry(3, 1ms));
  EXPECT_EQ(waiting_.bytes(), 10u);
  waiting_.put_back(std::move(taken));
  EXPECT_EQ(waiting_.bytes(), 20u);
  EXPECT_EQ(values(waiting_.take_all()), (std::vector{2, 3}));
}

TEST_F(messages_that_wait, come_before_later_requests_if_they_are_added_again) {
  const auto numbered = [&](int value, std::uint64_t number, std::chrono::milliseconds since) {
    auto made = entry(value, since);
    made.number = number;
    return made;
  };
  waiting_.add(numbered(5, 5, 1ms));
  waiting_.add(numbered(0, 0, 2ms));
  waiting_.add(numbered(7, 7, 3ms));
  waiting_.add_again(numbered(6, 6, 9ms));
  waiting_.add_again(numbered(4, 4, 9ms));
  waiting_.add_again(numbered(8, 8, 9ms));
  EXPECT_EQ(values(waiting_.take_older_than(begin_ + 4ms)), (std::vector{4, 5, 0, 6, 7})); // As old as those behind.
  EXPECT_EQ(values(waiting_.take_all()), (std::vector{8}));
}

TEST_F(messages_that_wait, have_room_up_to_a_bound) {
  EXPECT_TRUE(waiting_.has_room(1'000)); // One message may exceed it.
  waiting_.add(entry(1, 0ms, 90));
  EXPECT_TRUE(waiting_.has_room(10));
  EXPECT_FALSE(waiting_.has_room(11));
  EXPECT_FALSE(waiting_.has_room(UINT64_MAX));
  waiting_.add(entry(2, 0ms, 10));
  EXPECT_FALSE(waiting_.has_room(1));
}

TEST_F(messages_that_wait, become_old) {
  for (auto value = 0; value < 5; ++value)
    waiting_.add(entry(value, std::chrono::milliseconds{value}));
  EXPECT_EQ(waiting_.oldest(), begin_);
  EXPECT_EQ(values(waiting_.take_older_than(begin_ + 2ms)), (std::vector{0, 1}));
  EXPECT_EQ(waiting_.oldest(), begin_ + 2ms);
  EXPECT_EQ(waiting_.bytes(), 30u);
  EXPECT_TRUE(waiting_.take_older_than(begin_).empty());
  EXPECT_EQ(values(waiting_.take_older_than(begin_ + 1s)), (std::vector{2, 3, 4}));
  EXPECT_FALSE(waiting_.oldest());
}

} // namespace
} // namespace troupe::internal
