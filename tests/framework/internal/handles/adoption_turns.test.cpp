#include <troupe/framework/internal/handles/adoption_turns.hpp>

#include <gtest/gtest.h>

namespace troupe::internal::handles {
namespace {

class turns_of_offerers : public testing::Test {
protected:
  void TearDown() override { EXPECT_EQ(turns_.broken_invariant(), ""); }

  static reference entry(std::uint32_t index) { return {index, 1}; }
  /// Returns the entry whose turn is next, or 0 if there is none.
  std::uint32_t next() {
    const auto turn = turns_.next();
    return turn ? turn->what.index : 0;
  }

  adoption_turns turns_{{.asked = 3, .asked_of_offerer = 2}};
};

TEST_F(turns_of_offerers, alternate) {
  turns_.queue(entry(1), 10);
  turns_.queue(entry(2), 10);
  turns_.queue(entry(3), 20);
  EXPECT_EQ(next(), 1u);
  EXPECT_EQ(next(), 3u);
  EXPECT_EQ(next(), 2u);
  EXPECT_EQ(next(), 0u);
}

TEST_F(turns_of_offerers, leave_room_for_others) {
  for (std::uint32_t each : {1, 2, 3})
    turns_.queue(entry(each), 10);
  EXPECT_EQ(next(), 1u);
  EXPECT_EQ(next(), 2u);
  EXPECT_EQ(next(), 0u);
  turns_.queue(entry(4), 20);
  EXPECT_EQ(next(), 4u);
  turns_.end(20);
  EXPECT_EQ(next(), 0u);
  turns_.end(10);
  EXPECT_EQ(next(), 3u);
}

TEST_F(turns_of_offerers, are_bounded_in_all) {
  for (std::uint32_t each : {1, 2, 3, 4})
    turns_.queue(entry(each), each);
  EXPECT_EQ(next(), 1u);
  EXPECT_EQ(next(), 2u);
  EXPECT_EQ(next(), 3u);
  EXPECT_FALSE(turns_.has_next());
  turns_.end(1);
  EXPECT_EQ(next(), 4u);
}

TEST_F(turns_of_offerers, are_not_for_what_has_left) {
  turns_.queue(entry(1), 10);
  turns_.queue(entry(2), 20);
  EXPECT_TRUE(turns_.is_queued(entry(1), 10));
  turns_.leave(entry(1), 10);
  EXPECT_FALSE(turns_.is_queued(entry(1), 10));
  EXPECT_EQ(turns_.queued(), std::vector{entry(2)});
  EXPECT_EQ(next(), 2u);
  turns_.end(20);
  EXPECT_TRUE(turns_.empty());
}

} // namespace
} // namespace troupe::internal::handles
