// Goal: a link is given up if its peer is silent or takes nothing for too long, and only then.
// Method: the test sets the clock and the numbers.
#include <troupe/framework/internal/flow/heartbeat.hpp>

#include <gtest/gtest.h>

namespace troupe::internal {
namespace {

using namespace std::chrono_literals;

class a_heartbeat : public testing::Test {
protected:
  a_heartbeat() { beat_.begin(seen_, now_); }

  std::expected<bool, node_error> after(std::chrono::milliseconds time) {
    now_ += time;
    return beat_.beat(seen_, now_);
  }

  signs_of_life seen_{.bytes_read = 100, .slices_taken = 7};
  heartbeat::clock::time_point now_{1h};
  heartbeat beat_{1s, 3s};
};

TEST_F(a_heartbeat, asks_a_peer_that_is_silent_and_gives_it_up) {
  EXPECT_EQ(after(999ms), false);
  EXPECT_EQ(after(1ms), true);
  EXPECT_EQ(after(1999ms), true);
  const auto gone = after(1ms);
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().code(), node_errc::link_down);
  EXPECT_EQ(gone.error().message(), "the peer has been silent for 3,000 ms, limit 3,000 ms (heartbeat_timeout)");
}

TEST_F(a_heartbeat, begins_anew_with_each_byte_of_the_peer) {
  EXPECT_EQ(after(2900ms), true);
  ++seen_.bytes_read;
  EXPECT_EQ(after(99ms), false);
  EXPECT_EQ(after(2999ms), true);
  EXPECT_FALSE(after(1ms));
}

TEST_F(a_heartbeat, takes_reading_for_a_sign) {
  EXPECT_EQ(after(2900ms), true);
  ++seen_.slices_taken;
  EXPECT_EQ(after(2900ms), false);
  EXPECT_EQ(after(2900ms), true);
}

TEST_F(a_heartbeat, gives_up_a_peer_that_speaks_and_takes_nothing) {
  seen_.stalled = 2999ms;
  ++seen_.bytes_read;
  EXPECT_EQ(after(100ms), false);
  seen_.stalled = 3s;
  ++seen_.bytes_read;
  const auto gone = after(100ms);
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().message(), "the peer has read nothing for 3,000 ms, limit 3,000 ms (heartbeat_timeout)");
}

TEST(heartbeats, are_looked_at_often_enough_and_not_all_the_time) {
  EXPECT_EQ(heartbeat(1s, 10s).pause(), 1s);
  EXPECT_EQ(heartbeat(1s, 1500ms).pause(), 500ms);
  EXPECT_EQ(heartbeat(1ms, 3ms).pause(), 10ms);
}

} // namespace
} // namespace troupe::internal
