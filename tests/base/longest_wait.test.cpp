// "For ever" is a duration that can be added to a time point of a clock.
#include <troupe/base/longest_wait.hpp>

#include <condition_variable>
#include <mutex>

#include <gtest/gtest.h>

namespace troupe {
namespace {

using namespace std::chrono_literals;

TEST(a_bounded_wait, is_the_wait_itself_where_a_clock_can_add_it) {
  EXPECT_EQ(bounded_wait(0ms), 0ms);
  EXPECT_EQ(bounded_wait(5s), 5s);
  EXPECT_EQ(bounded_wait(longest_wait), longest_wait);
}

TEST(a_bounded_wait, has_an_end_that_is_later_than_now) {
  for (const auto wait : {std::chrono::milliseconds::max(), longest_wait + 1ms, std::chrono::milliseconds{1LL << 53}}) {
    EXPECT_EQ(bounded_wait(wait), longest_wait);
    EXPECT_GT(std::chrono::steady_clock::now() + bounded_wait(wait), std::chrono::steady_clock::now());
    EXPECT_GT(std::chrono::system_clock::now() + bounded_wait(wait), std::chrono::system_clock::now());
  }
}

TEST(a_bounded_wait, is_no_shorter_than_nothing) {
  EXPECT_EQ(bounded_wait(-1ms), 0ms);
  EXPECT_EQ(bounded_wait(std::chrono::milliseconds::min()), 0ms);
}

TEST(a_bounded_wait, is_waited_for_by_condition_variables) {
  std::mutex mutex;
  std::condition_variable changed;
  std::unique_lock guard{mutex};
  EXPECT_TRUE(changed.wait_for(guard, bounded_wait(std::chrono::milliseconds::max()), [] { return true; }));
}

} // namespace
} // namespace troupe
