#include <troupe/framework/cluster/internal/watching/watch_calls.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace troupe::tests {

namespace {

using cluster_directories::watch_calls;

const std::vector<directory_change> one_change{{.entry = {.key = "a", .changed_revision = 2}}};
const directory_error closed_directory{directory_errc::closed, "closed"};

TEST(watch_calls_test, the_end_is_the_last_call_and_comes_once) {
  int changes = 0, ends = 0;
  watch_calls calls{{.on_changes = [&](auto, auto) { ++changes; }, .on_end = [&](const auto&) { ++ends; }}};
  calls.changes(one_change, 2);
  calls.end(closed_directory);
  calls.end(closed_directory);
  calls.changes(one_change, 3);
  EXPECT_EQ(changes, 1);
  EXPECT_EQ(ends, 1);
  EXPECT_TRUE(calls.is_over());
}

TEST(watch_calls_test, handlers_that_are_left_out_are_not_called) {
  watch_calls calls{{}};
  calls.changes(one_change, 2);
  calls.end(closed_directory);
}

TEST(watch_calls_test, stop_waits_for_the_handler_that_runs) {
  std::atomic<bool> is_inside{false}, is_through{false};
  watch_calls calls{{.on_changes = [&](auto, auto) {
    is_inside = true;
    is_inside.notify_all();
    std::this_thread::sleep_for(std::chrono::milliseconds{20});
    is_through = true;
  }}};
  std::jthread delivers{[&] { calls.changes(one_change, 2); }};
  is_inside.wait(false);
  calls.stop();
  EXPECT_TRUE(is_through);
}

TEST(watch_calls_test, a_handler_may_stop_its_own_calls) {
  int changes = 0;
  watch_calls* self = nullptr;
  watch_calls calls{{.on_changes = [&](auto, auto) {
    ++changes;
    self->stop();
  }}};
  self = &calls;
  calls.changes(one_change, 2);
  calls.changes(one_change, 3);
  calls.end(closed_directory);
  EXPECT_EQ(changes, 1);
}

} // namespace

} // namespace troupe::tests
