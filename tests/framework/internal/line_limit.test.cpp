#include <troupe/framework/internal/words/line_limit.hpp>

#include <gtest/gtest.h>

namespace troupe::internal {
namespace {

using namespace std::chrono_literals;

class three_lines_a_second : public testing::Test {
protected:
  /// Returns the number of the `attempts` lines at one moment that are written.
  int written(int attempts) {
    int count = 0;
    for (int i = 0; i < attempts; ++i)
      count += limit_.admit(now_) ? 1 : 0;
    return count;
  }

  line_limit limit_{3};
  line_limit::clock::time_point now_ = line_limit::clock::now();
};

TEST_F(three_lines_a_second, writes_three_and_counts_the_others) {
  EXPECT_EQ(written(3), 3);
  EXPECT_EQ(limit_.left_out(), 0u);
  EXPECT_EQ(written(7), 0);
  EXPECT_EQ(limit_.left_out(), 7u);
}

TEST_F(three_lines_a_second, ends_the_second_after_the_first_line) {
  EXPECT_EQ(written(1), 1);
  const auto begin = now_;
  now_ += 900ms;
  EXPECT_EQ(written(4), 2);
  EXPECT_EQ(limit_.ends(), begin + 1s);
}

TEST_F(three_lines_a_second, writes_three_more_in_the_next_second) {
  EXPECT_EQ(written(3), 3);
  now_ += 999ms;
  EXPECT_EQ(written(1), 0);
  EXPECT_EQ(limit_.settle(), 1u);
  now_ += 1ms;
  EXPECT_EQ(written(4), 3);
}

TEST_F(three_lines_a_second, needs_no_settling_where_nothing_was_left_out) {
  EXPECT_EQ(written(3), 3);
  now_ += 1s;
  EXPECT_EQ(written(3), 3);
  EXPECT_EQ(limit_.settle(), 0u);
}

// Goal: if settle() is called late, every line is still counted.
TEST_F(three_lines_a_second, counts_on_until_it_is_settled) {
  EXPECT_EQ(written(5), 3);
  now_ += 10s;
  EXPECT_EQ(written(4), 0);
  EXPECT_EQ(limit_.settle(), 6u);
  EXPECT_EQ(limit_.settle(), 0u);
  EXPECT_EQ(written(4), 3);
}

} // namespace
} // namespace troupe::internal
