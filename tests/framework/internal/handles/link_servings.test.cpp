#include <troupe/framework/internal/handles/link_servings.hpp>

#include <gtest/gtest.h>

namespace troupe::internal::handles {
namespace {

class pulls_of_a_peer : public testing::Test {
protected:
  static constexpr object_id x{1, 1, 1};
  static constexpr object_id y{1, 2, 1};

  void TearDown() override { EXPECT_EQ(pulls_.broken_invariant(), ""); }

  link_servings pulls_{2};
};

TEST_F(pulls_of_a_peer, take_turns_when_their_bytes_are_here) {
  EXPECT_TRUE(pulls_.open(1, x, false));
  EXPECT_TRUE(pulls_.open(2, y, false));
  EXPECT_FALSE(pulls_.next());
  pulls_.make_ready(2, y, 5);
  EXPECT_EQ(pulls_.next(), 2u);
  pulls_.make_ready(1, x, 5);
  EXPECT_EQ(pulls_.next(), 1u);
  EXPECT_EQ(pulls_.next(), 2u);
  EXPECT_EQ(pulls_.next(), 1u);
}

TEST_F(pulls_of_a_peer, begin_with_the_head) {
  EXPECT_TRUE(pulls_.open(1, x, false));
  EXPECT_EQ(pulls_.at(1).next, served_pull::step::fetching);
  pulls_.make_ready(1, y, 5);
  EXPECT_EQ(pulls_.at(1).next, served_pull::step::head);
  EXPECT_EQ(pulls_.at(1).place, y);
  EXPECT_EQ(pulls_.close(1).size_bytes, 5u);
  EXPECT_FALSE(pulls_.has_ready());
  EXPECT_TRUE(pulls_.empty());
}

TEST_F(pulls_of_a_peer, are_bounded_by_kind) {
  EXPECT_TRUE(pulls_.open(1, x, false));
  EXPECT_TRUE(pulls_.open(2, x, false));
  EXPECT_FALSE(pulls_.open(3, x, false));
  EXPECT_TRUE(pulls_.open(4, y, true));
  EXPECT_TRUE(pulls_.open(5, y, true));
  EXPECT_FALSE(pulls_.open(6, y, true));
  (void)pulls_.close(1);
  EXPECT_TRUE(pulls_.open(7, x, false));
  EXPECT_FALSE(pulls_.open(8, y, true));
}

TEST_F(pulls_of_a_peer, are_found_by_what_they_pull) {
  EXPECT_TRUE(pulls_.open(1, y, false));
  EXPECT_TRUE(pulls_.open(2, x, false));
  EXPECT_EQ(pulls_.first_of(x), 2u);
  (void)pulls_.close(2);
  EXPECT_FALSE(pulls_.first_of(x));
  EXPECT_EQ(pulls_.first_of(y), 1u);
}

} // namespace
} // namespace troupe::internal::handles
