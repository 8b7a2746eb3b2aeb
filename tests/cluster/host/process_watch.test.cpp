#include <troupe/framework/cluster/internal/host/process_watch.hpp>

#include <troupe/processes/process.hpp>

#include <gtest/gtest.h>

#include <csignal>
#include <vector>

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

namespace troupe::tests {

namespace {

using cluster_directories::has_ended;
using cluster_directories::own_process;
using cluster_directories::process_identity;
using cluster_directories::process_state;
using cluster_directories::process_watch;
using cluster_directories::state_of_process;

class process_watch_test : public ::testing::Test {
protected:
  [[nodiscard]] static processes::process sleeper() {
    return processes::process::fork([] {
             ::pause();
             return 0;
           })
        .value();
  }
  [[nodiscard]] process_identity identity_of(pid_t process) const {
    const auto number = static_cast<std::uint64_t>(process);
    return {.number = number, .started = state_of_process(number).started, .pid_namespace = self_.pid_namespace};
  }
  [[nodiscard]] bool is_readable(int milliseconds) const {
    pollfd one{.fd = watch_.readable(), .events = POLLIN, .revents = 0};
    return ::poll(&one, 1, milliseconds) == 1;
  }
  [[nodiscard]] bool is_ended(const process_identity& process) {
    return watch_.ended_of(std::vector{process}) == std::vector{process};
  }

  const process_identity self_ = own_process();
  process_watch watch_{self_};
};

TEST_F(process_watch_test, a_killed_process_makes_the_descriptor_readable_until_it_was_looked_at) {
  auto child = sleeper();
  const auto process = identity_of(child.number());
  EXPECT_FALSE(is_ended(process));
  EXPECT_FALSE(is_readable(0));
  child.kill();
  EXPECT_TRUE(is_readable(10'000));
  EXPECT_TRUE(is_ended(process));
  EXPECT_FALSE(is_readable(0));
  EXPECT_TRUE(is_ended(process)) << "also later";
}

TEST_F(process_watch_test, a_process_that_nobody_has_waited_for_has_ended) {
  const auto child = ::fork();
  if (child == 0)
    ::_exit(0);
  siginfo_t info{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT), 0); // It stays a zombie.
  const auto process = identity_of(child);
  EXPECT_TRUE(has_ended(process, state_of_process(process.number)));
  EXPECT_TRUE(is_ended(process));
  ::waitpid(child, nullptr, 0);
}

TEST_F(process_watch_test, another_process_with_the_same_number_does_not_count) {
  auto child = sleeper();
  auto earlier = identity_of(child.number());
  --earlier.started;
  EXPECT_TRUE(is_ended(earlier));
  EXPECT_FALSE(is_ended(identity_of(child.number())));
}

TEST_F(process_watch_test, the_own_process_and_those_of_other_namespaces_never_count_as_ended) {
  auto stranger = process_identity{.number = 4'000'000, .started = 1, .pid_namespace = self_.pid_namespace + 1};
  EXPECT_FALSE(is_ended(stranger));
  stranger.pid_namespace = 0;
  EXPECT_FALSE(is_ended(stranger));
  EXPECT_FALSE(is_ended(self_));
}

TEST_F(process_watch_test, processes_that_are_no_longer_asked_for_are_not_followed) {
  auto child = sleeper();
  EXPECT_FALSE(is_ended(identity_of(child.number())));
  EXPECT_TRUE(watch_.ended_of({}).empty());
  child.kill();
  EXPECT_FALSE(is_readable(0));
}

TEST_F(process_watch_test, what_cannot_be_read_proves_nothing) {
  EXPECT_FALSE(has_ended(self_, process_state{}));
  EXPECT_TRUE(has_ended(self_, process_state{.is_known = true, .exists = false}));
}

} // namespace

} // namespace troupe::tests
