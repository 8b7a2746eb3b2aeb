// Tests when a message is written without waiting for others.
#include <troupe/framework/internal/net/write_pause.hpp>

#include <gtest/gtest.h>

namespace troupe::internal {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

const write_pause::time_point start{milliseconds{1}};

TEST(write_pause_test, the_first_message_goes_alone) {
  EXPECT_TRUE(write_pause{}.is_over(start, 0));
}

TEST(write_pause_test, a_question_goes_alone_once_the_peer_has_sent_something) {
  write_pause pause;
  pause.begin(start, 100);
  EXPECT_TRUE(pause.is_over(start + microseconds{5}, 101));
  EXPECT_FALSE(pause.is_over(start + microseconds{4}, 101));
  EXPECT_FALSE(pause.is_over(start + microseconds{5}, 100));
}

TEST(write_pause_test, streams_to_many_peers_in_turn_are_not_written_message_by_message) {
  write_pause pause;
  pause.begin(start, 100);
  EXPECT_FALSE(pause.is_over(start + microseconds{49}, 100));
}

TEST(write_pause_test, after_a_long_pause_a_message_goes_alone) {
  write_pause pause;
  pause.begin(start, 100);
  EXPECT_TRUE(pause.is_over(start + microseconds{50}, 100));
}

} // namespace
} // namespace troupe::internal
