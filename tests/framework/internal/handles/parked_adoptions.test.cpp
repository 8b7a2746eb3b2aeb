#include <troupe/framework/internal/handles/parked_adoptions.hpp>

#include <gtest/gtest.h>

namespace troupe::internal::handles {
namespace {

using namespace std::chrono_literals;

class early_adoptions : public testing::Test {
protected:
  static constexpr object_id x{1, 1, 1};
  static constexpr object_id y{1, 2, 1};

  void TearDown() override { EXPECT_EQ(parked_.broken_invariant(), ""); }

  timer_queue timers_;
  parked_adoptions parked_{5, timers_, 2};
};

TEST_F(early_adoptions, are_found_by_what_they_ask_for) {
  EXPECT_TRUE(parked_.park({1, x, 7}, 10s));
  EXPECT_EQ(parked_.find(x, 7), 1u);
  EXPECT_FALSE(parked_.find(x, 8));
  EXPECT_FALSE(parked_.find(y, 7));
}

TEST_F(early_adoptions, wait_for_some_time_each) {
  EXPECT_TRUE(parked_.park({1, x, 7}, 10s));
  EXPECT_TRUE(parked_.park({2, x, 7}, 9s));
  const auto due = timers_.take_due(9s);
  ASSERT_TRUE(due);
  EXPECT_EQ(due->owner, 5u);
  EXPECT_EQ(due->number, 2u);
  parked_.take(2);
  EXPECT_EQ(parked_.find(x, 7), 1u);
}

TEST_F(early_adoptions, that_wait_no_more_are_due_no_more) {
  EXPECT_TRUE(parked_.park({1, x, 7}, 10s));
  parked_.take(1);
  parked_.take(1);
  EXPECT_TRUE(parked_.empty());
  EXPECT_EQ(timers_.size(), 0u);
}

TEST_F(early_adoptions, are_refused_beyond_their_bound) {
  EXPECT_TRUE(parked_.park({1, x, 7}, 10s));
  EXPECT_TRUE(parked_.park({2, y, 7}, 10s));
  EXPECT_FALSE(parked_.park({3, y, 8}, 10s));
  parked_.clear();
  EXPECT_EQ(timers_.size(), 0u);
  EXPECT_TRUE(parked_.park({3, y, 8}, 10s));
}

} // namespace
} // namespace troupe::internal::handles
