// The pauses between dials, in numbers.
#include <vector>

#include <gtest/gtest.h>

#include <troupe/framework/internal/node/back_off.hpp>

namespace troupe::internal::tests {
namespace {

using namespace std::chrono_literals;

TEST(a_pause, grows_to_the_longest) {
  const reconnect_policy policy{.first_pause = 100ms, .longest_pause = 1s, .growth = 2, .jitter = 0.5};
  EXPECT_EQ(pause_before(1, policy, 0), 100ms);
  EXPECT_EQ(pause_before(2, policy, 0), 200ms);
  EXPECT_EQ(pause_before(4, policy, 0), 800ms);
  EXPECT_EQ(pause_before(5, policy, 0), 1s);
  EXPECT_EQ(pause_before(1'000'000, policy, 0), 1s);
}

TEST(a_pause, is_shortened_by_chance_by_the_part_that_the_policy_says) {
  const reconnect_policy policy{.first_pause = 100ms, .longest_pause = 1s, .growth = 2, .jitter = 0.2};
  EXPECT_EQ(pause_before(1, policy, 0.5), 90ms);
  EXPECT_EQ(pause_before(1, policy, 1), 80ms);
  EXPECT_EQ(pause_before(9, policy, 1), 800ms);
  EXPECT_EQ(pause_before(1, {.first_pause = 100ms, .jitter = 1}, 1), 0ms);
  EXPECT_EQ(pause_before(3, {.first_pause = 100ms, .growth = 1, .jitter = 0}, 1), 100ms);
}

std::vector<std::chrono::milliseconds> pauses(back_off& from, int count) {
  std::vector<std::chrono::milliseconds> result;
  for (int i = 0; i < count; ++i)
    result.push_back(from.failed().value());
  return result;
}

TEST(a_back_off, gives_the_same_pauses_for_the_same_seed) {
  const reconnect_policy policy{.first_pause = 1s, .longest_pause = 1h, .growth = 2, .jitter = 0.5};
  back_off one{policy, 42}, same{policy, 42}, other{policy, 43};
  const auto of_one = pauses(one, 6);
  EXPECT_EQ(of_one, pauses(same, 6));
  EXPECT_NE(of_one, pauses(other, 6));
  for (int i = 0; i < 6; ++i) {
    EXPECT_LE(of_one[static_cast<std::size_t>(i)], 1s * (1 << i));
    EXPECT_GE(of_one[static_cast<std::size_t>(i)], 500ms * (1 << i));
  }
  // Recomputes the values with the standard's generator, so that a change of the formula is noticed.
  std::mt19937_64 generator{42};
  const auto chance = static_cast<double>(generator() >> 11) / static_cast<double>(1ULL << 53);
  EXPECT_EQ(of_one.front(), pause_before(1, policy, chance));
}

TEST(a_back_off, ends_after_so_many_dials_in_a_row_that_fail) {
  back_off limited{{.first_pause = 1ms, .jitter = 0, .attempts_max = 3}, 1};
  EXPECT_EQ(limited.failed(), 1ms);
  EXPECT_EQ(limited.failed(), 2ms);
  limited.connected(); // The count starts again.
  EXPECT_EQ(limited.lost(0ms), 4ms);
  EXPECT_TRUE(limited.failed());
  EXPECT_TRUE(limited.failed());
  EXPECT_EQ(limited.failed(), std::nullopt);
}

TEST(a_back_off, begins_anew_only_after_a_link_that_lived_for_long) {
  back_off flapping{{.first_pause = 10ms, .longest_pause = 1s, .growth = 2, .jitter = 0}, 1};
  flapping.connected();
  EXPECT_EQ(flapping.lost(1ms), 10ms);
  flapping.connected();
  EXPECT_EQ(flapping.lost(999ms), 20ms);
  flapping.connected();
  EXPECT_EQ(flapping.lost(1s), 10ms);
}

TEST(a_back_off, of_no_reconnecting_ends_at_once) {
  back_off once{{.kind = reconnect::none}, 1};
  EXPECT_EQ(once.failed(), std::nullopt);
  EXPECT_EQ(once.lost(1h), std::nullopt);
}

TEST(a_policy, that_makes_no_sense_is_named) {
  EXPECT_EQ(problem_of({}), "");
  EXPECT_EQ(problem_of({.first_pause = 0ms}), "first_pause of 0 ms: it is at least 1 ms");
  EXPECT_EQ(problem_of({.first_pause = 2s, .longest_pause = 1s}),
            "longest_pause of 1000 ms is shorter than first_pause of 2000 ms");
  EXPECT_NE(problem_of({.longest_pause = std::chrono::hours{24 * 3651}}), "");
  EXPECT_NE(problem_of({.growth = 0.5}), "");
  EXPECT_NE(problem_of({.jitter = 1.1}), "");
  EXPECT_NE(problem_of({.jitter = -0.1}), "");
  EXPECT_EQ(problem_of({.attempts_max = 0}), "attempts_max is 0: no peer would ever be dialed");
}

} // namespace
} // namespace troupe::internal::tests
