#include <troupe/framework/internal/handles/busy_pause.hpp>

#include <gtest/gtest.h>

namespace troupe::internal::handles {
namespace {

using namespace std::chrono_literals;

class pause_of_a_link : public testing::Test {
protected:
  void TearDown() override { EXPECT_EQ(pause_.broken_invariant(), ""); }

  timer_queue timers_;
  busy_pause pause_{5, timers_};
};

TEST_F(pause_of_a_link, is_for_what_the_peer_was_too_busy_for) {
  pause_.begin_for_pulls(1s);
  EXPECT_TRUE(pause_.is_for_pulls());
  EXPECT_FALSE(pause_.is_for_adoptions());
  pause_.begin_for_adoptions(2s);
  EXPECT_TRUE(pause_.is_for_adoptions());
}

TEST_F(pause_of_a_link, is_not_extended_while_it_lasts) {
  pause_.begin(1s);
  pause_.begin_for_adoptions(2s);
  EXPECT_EQ(timers_.next(), time_point{1s});
}

TEST_F(pause_of_a_link, ends_for_all) {
  pause_.begin_for_pulls(1s);
  pause_.begin_for_adoptions(1s);
  pause_.end();
  EXPECT_FALSE(pause_.is_on());
  EXPECT_FALSE(pause_.is_for_pulls());
  EXPECT_FALSE(pause_.is_for_adoptions());
  EXPECT_EQ(timers_.size(), 0u);
}

} // namespace
} // namespace troupe::internal::handles
