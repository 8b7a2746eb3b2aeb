#include <troupe/framework/internal/handles/timers.hpp>

#include <gtest/gtest.h>

namespace troupe::internal::handles {
namespace {

using namespace std::chrono_literals;

class deadlines : public testing::Test {
protected:
  timer_queue queue_;
  deadline first_{queue_, timer::kind::grace, 1};
  deadline second_{queue_, timer::kind::question, 2, 7};
};

TEST_F(deadlines, are_not_due_before_they_are_set) {
  EXPECT_FALSE(queue_.next());
  EXPECT_FALSE(first_.is_set());
  EXPECT_TRUE(first_.is_in_order());
}

TEST_F(deadlines, come_in_the_order_of_their_time) {
  first_.set(2s);
  second_.set(1s);
  EXPECT_EQ(queue_.next(), time_point{1s});
  EXPECT_FALSE(queue_.take_due(999ms));
  EXPECT_EQ(queue_.take_due(3s)->number, 7u);
  EXPECT_EQ(queue_.take_due(3s)->owner, 1u);
  EXPECT_FALSE(queue_.take_due(3s));
}

TEST_F(deadlines, that_are_set_again_leave_nothing_behind) {
  first_.set(2s);
  first_.set(5s);
  EXPECT_EQ(queue_.size(), 1u);
  EXPECT_EQ(queue_.next(), time_point{5s});
  first_.set(never);
  EXPECT_FALSE(first_.is_set());
  EXPECT_EQ(queue_.size(), 0u);
}

TEST_F(deadlines, end_with_what_they_are_of) {
  {
    deadline third{queue_, timer::kind::parked, 3};
    third.set(1s);
    EXPECT_EQ(queue_.size(), 1u);
  }
  EXPECT_EQ(queue_.size(), 0u);
}

TEST_F(deadlines, that_were_taken_as_due_are_out_of_order_until_they_are_cleared) {
  first_.set(1s);
  EXPECT_TRUE(queue_.take_due(1s));
  EXPECT_FALSE(first_.is_in_order());
  first_.clear();
  EXPECT_TRUE(first_.is_in_order());
}

} // namespace
} // namespace troupe::internal::handles
