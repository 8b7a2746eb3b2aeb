#include <troupe/framework/internal/handles/event_clock.hpp>

#include <gtest/gtest.h>

namespace troupe::internal::handles {
namespace {

using namespace std::chrono_literals;

class time_of_an_event : public testing::Test {
protected:
  time_point time_{5s};
  event_clock clock_{[this] { return time_; }};
};

TEST_F(time_of_an_event, is_that_of_its_beginning) {
  clock_.begin_event();
  time_ = 7s;
  EXPECT_TRUE(clock_.is_in_event());
  EXPECT_EQ(clock_.now(), time_point{5s});
  clock_.end_event();
  EXPECT_FALSE(clock_.is_in_event());
  clock_.begin_event();
  EXPECT_EQ(clock_.now(), time_point{7s});
}

TEST_F(time_of_an_event, never_goes_back) {
  clock_.begin_event();
  clock_.end_event();
  time_ = 4s;
  clock_.begin_event();
  EXPECT_EQ(clock_.now(), time_point{5s});
}

} // namespace
} // namespace troupe::internal::handles
