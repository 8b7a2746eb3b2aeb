// Goal: it is quiet only after nothing has come, and nothing was under way, for the whole time.
#include <atomic>
#include <chrono>
#include <future>

#include <gtest/gtest.h>

#include <troupe/framework/cluster/internal/entities/quiet_watch.hpp>

namespace troupe::tests {
namespace {

using namespace std::chrono_literals;
using membership::quiet_watch;
using test_clock = quiet_watch::clock;

constexpr auto never = [] { return false; };

TEST(a_quiet_watch, waits_the_whole_time_if_nothing_comes) {
  const quiet_watch watch;
  const auto begin = test_clock::now();
  EXPECT_TRUE(watch.wait(30ms, never, begin + 10s));
  EXPECT_GE(test_clock::now() - begin, 30ms);
}

TEST(a_quiet_watch, waits_the_whole_time_after_what_came_last) {
  quiet_watch watch;
  std::atomic<int> looks{0};
  test_clock::time_point last;
  const auto comes_twice = [&] { // Once as the wait begins, and once as it would end.
    if (++looks <= 2) {
      watch.note();
      last = test_clock::now();
    }
    return false;
  };
  EXPECT_TRUE(watch.wait(30ms, comes_twice, test_clock::now() + 10s));
  EXPECT_GE(test_clock::now() - last, 29ms); // `last` is a moment later than what was noted.
  EXPECT_GE(looks, 3);
}

TEST(a_quiet_watch, counts_from_the_look_that_finds_nothing_under_way) {
  const quiet_watch watch;
  auto looks = 0;
  const auto begin = test_clock::now();
  EXPECT_TRUE(watch.wait(
      20ms, [&] { return ++looks <= 2; }, begin + 10s)); // At 0 and 20 ms, not at 40 ms.
  EXPECT_GE(test_clock::now() - begin, 60ms);
}

TEST(a_quiet_watch, gives_up_in_time_if_something_stays_under_way) {
  const quiet_watch watch;
  const auto until = test_clock::now() + 50ms;
  EXPECT_FALSE(watch.wait(
      20ms, [] { return true; }, until));
  EXPECT_GE(test_clock::now(), until);
}

TEST(a_quiet_watch, gives_up_in_time_if_something_always_comes) {
  quiet_watch watch;
  std::atomic<bool> stops{false};
  const auto comes = std::async(std::launch::async, [&] {
    while (!stops)
      watch.note();
  });
  EXPECT_FALSE(watch.wait(1'000ms, never, test_clock::now() + 50ms));
  stops = true;
}

} // namespace
} // namespace troupe::tests
