#include <troupe/store/internal/host/ending_process.hpp>

#include <troupe/processes/process.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <thread>

#include <unistd.h>

namespace troupe::store::internal {
namespace {

[[nodiscard]] processes::process sleeping_child() {
  return processes::process::fork([] { return ::pause(); }).value();
}

TEST(ending_process, is_one_that_was_killed_and_not_one_that_lives_or_is_gone) {
  auto child = sleeping_child();
  EXPECT_FALSE(is_ending(::getpid()));
  EXPECT_FALSE(is_ending(child.number()));
  child.signal(SIGKILL);
  EXPECT_TRUE(is_ending(child.number())); // Until its parent waits for it.
  child.wait();
  EXPECT_FALSE(is_ending(child.number()));
  EXPECT_FALSE(is_ending(0));
}

// Goal: it is no error if a process ends while its state is being checked.
TEST(ending_process, may_go_at_any_moment) {
  auto child = std::atomic<pid_t>{0};
  auto is_over = std::atomic<bool>{false};
  auto asked = std::atomic<std::size_t>{0};
  auto asker = std::thread{[&] {
    while (!is_over) {
      (void)is_ending(child);
      ++asked;
    }
  }};
  for (auto round = 0; round < 300; ++round) {
    auto sleeping = sleeping_child();
    child = sleeping.number();
    for (const auto before = asked.load(); asked < before + 2;)
      std::this_thread::yield();
    sleeping.kill();
  }
  is_over = true;
  asker.join();
  EXPECT_GT(asked, 600u);
}

} // namespace
} // namespace troupe::store::internal
