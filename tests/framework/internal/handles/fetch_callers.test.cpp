#include <troupe/framework/internal/handles/fetch_callers.hpp>

#include <gtest/gtest.h>

namespace troupe::internal::handles {
namespace {

using namespace std::chrono_literals;

class callers : public testing::Test {
protected:
  timer_queue timers_;
  fetch_callers callers_{timers_};
};

TEST_F(callers, wait_for_one_object_each) {
  callers_.add(1, 3s, never);
  callers_.wait_for(1, {5, 1});
  callers_.wait_for(1, {6, 1}); // The entry has moved.
  EXPECT_EQ(callers_.find(1), (reference{6, 1}));
  EXPECT_FALSE(callers_.find(2));
}

TEST_F(callers, are_due_when_their_time_is_over) {
  callers_.add(1, 3s, 10s);
  callers_.add(2, 3s, never);
  EXPECT_EQ(callers_.since(1), time_point{3s});
  EXPECT_EQ(callers_.limit_of(1), time_point{10s});
  EXPECT_EQ(callers_.limit_of(2), never);
  const auto due = timers_.take_due(10s);
  ASSERT_TRUE(due);
  EXPECT_EQ(due->what, timer::kind::waiter);
  EXPECT_EQ(due->owner, 1u);
  EXPECT_FALSE(callers_.is_in_order()); // Until this caller is told.
  callers_.erase(1);
  EXPECT_TRUE(callers_.is_in_order());
}

TEST_F(callers, that_have_been_answered_are_due_no_more) {
  callers_.add(1, 3s, 10s);
  callers_.erase(1);
  EXPECT_EQ(callers_.size(), 0u);
  EXPECT_FALSE(timers_.next());
}

} // namespace
} // namespace troupe::internal::handles
