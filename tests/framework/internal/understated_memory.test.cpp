#include <troupe/framework/internal/flow/understated_memory.hpp>

#include <gtest/gtest.h>

namespace troupe::internal {
namespace {

TEST(understated_memory, is_bounded_and_given_back_when_messages_are_consumed) {
  understated_memory memory{100};
  auto first = memory.admit(60);
  ASSERT_TRUE(first);
  auto second = memory.admit(41); // The one that reaches the bound may exceed it.
  ASSERT_TRUE(second);
  EXPECT_EQ(memory.living_bytes(), 101u);
  EXPECT_FALSE(memory.admit(1));
  const auto copy = first->of_copy();
  first.reset();
  EXPECT_EQ(memory.living_bytes(), 41u) << "a copy owes nothing";
  EXPECT_TRUE(memory.admit(1));
}

TEST(understated_memory, messages_may_outlive_the_link) {
  std::optional<receipt> late;
  {
    understated_memory memory{100};
    late = memory.admit(10);
  }
  EXPECT_TRUE(late);
}

} // namespace
} // namespace troupe::internal
