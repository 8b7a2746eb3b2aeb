#include <troupe/framework/internal/handles/offered_dials.hpp>

#include <gtest/gtest.h>

namespace troupe::internal::handles {
namespace {

using namespace std::chrono_literals;

class dials_of_an_offerer : public testing::Test {
protected:
  static constexpr std::uint64_t offerer = 1;
  static constexpr node_name c{3, 1};
  static constexpr node_name d{4, 1};
  static constexpr node_name e{5, 1};

  void TearDown() override { EXPECT_EQ(dials_.broken_invariant(), ""); }

  /// Handles everything that is due at `now`.
  void pass_to(time_point now) {
    while (const auto due = timers_.take_due(now))
      dials_.expire(due->owner, due->at);
  }

  timer_queue timers_;
  offered_dials dials_{{.of_offerer = 2, .within = 30s}, timers_};
};

TEST_F(dials_of_an_offerer, are_not_repeated_while_they_are_under_way) {
  EXPECT_TRUE(dials_.begin(offerer, c, 0s));
  EXPECT_FALSE(dials_.begin(offerer, c, 1s));
  dials_.linked(c);
  EXPECT_TRUE(dials_.begin(offerer, c, 1s));
}

TEST_F(dials_of_an_offerer, are_bounded_also_when_links_come_of_them) {
  EXPECT_TRUE(dials_.begin(offerer, c, 0s));
  EXPECT_TRUE(dials_.begin(offerer, d, 0s));
  dials_.linked(c);
  dials_.linked(d);
  EXPECT_FALSE(dials_.begin(offerer, e, 29s));
  EXPECT_TRUE(dials_.begin(offerer + 1, e, 29s));
}

TEST_F(dials_of_an_offerer, make_room_when_their_time_is_over) {
  EXPECT_TRUE(dials_.begin(offerer, c, 0s));
  EXPECT_TRUE(dials_.begin(offerer, d, 10s));
  pass_to(30s);
  EXPECT_EQ(dials_.size(), 1u);
  EXPECT_TRUE(dials_.begin(offerer, e, 30s));
  pass_to(40s);
  EXPECT_EQ(dials_.size(), 1u);
  pass_to(60s);
  EXPECT_EQ(dials_.size(), 0u);
  EXPECT_FALSE(timers_.next());
}

TEST_F(dials_of_an_offerer, may_be_forbidden) {
  offered_dials none{{.of_offerer = 0, .within = 30s}, timers_};
  EXPECT_FALSE(none.begin(offerer, c, 0s));
  EXPECT_EQ(none.size(), 0u);
}

} // namespace
} // namespace troupe::internal::handles
