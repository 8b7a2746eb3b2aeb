#include <troupe/framework/internal/handles/pull_turns.hpp>

#include <gtest/gtest.h>

namespace troupe::internal::handles {
namespace {

class pulls_from_a_source : public testing::Test {
protected:
  pulls_from_a_source() {
    for (std::uint32_t turn = 1; turn <= 20; ++turn)
      turns_.queue(turn, {turn, 1});
  }
  void TearDown() override { EXPECT_EQ(turns_.broken_invariant(), ""); }

  /// Returns the number of pulls that start now.
  std::size_t begun() {
    std::size_t count = 0;
    while (turns_.next())
      ++count;
    return count;
  }

  pull_turns turns_{8};
};

TEST_F(pulls_from_a_source, begin_in_the_order_of_their_turns) {
  turns_.leave(1);
  turns_.queue(0, {30, 1});
  EXPECT_EQ(turns_.next()->index, 30u);
  EXPECT_EQ(turns_.next()->index, 2u);
}

TEST_F(pulls_from_a_source, are_bounded) {
  EXPECT_EQ(begun(), 8u);
  turns_.end();
  EXPECT_EQ(begun(), 1u);
  EXPECT_FALSE(turns_.is_held_back());
}

TEST_F(pulls_from_a_source, are_fewer_when_it_was_busy_and_one_more_with_each_that_went_well) {
  EXPECT_EQ(begun(), 8u);
  for (int i = 0; i < 5; ++i)
    turns_.end();
  turns_.was_busy(); // With three running.
  EXPECT_TRUE(turns_.is_held_back());
  EXPECT_EQ(begun(), 0u);
  turns_.went_well();
  turns_.end();
  EXPECT_EQ(begun(), 2u);
}

TEST_F(pulls_from_a_source, are_at_least_one) {
  turns_.was_busy();
  EXPECT_EQ(begun(), 1u);
}

TEST_F(pulls_from_a_source, double_after_a_while_if_all_are_in_use) {
  turns_.was_busy();
  turns_.try_more(); // Not all are in use.
  EXPECT_EQ(begun(), 1u);
  for (std::size_t more : {1, 2, 4, 0}) {
    turns_.try_more();
    EXPECT_EQ(begun(), more);
  }
}

} // namespace
} // namespace troupe::internal::handles
