// Finding processes.
#include <troupe/processes/listing.hpp>
#include <troupe/processes/process.hpp>

#include "../eventually.hpp"

#include <unistd.h>

#include <gmock/gmock.h>

namespace troupe::processes {
namespace {

using namespace std::chrono_literals;
using testing::Contains;
using testing::Not;
using testing::UnorderedElementsAre;
using tests::eventually;

const auto mark = "PROCESSES_TEST=" + std::to_string(::getpid());

/// Returns two processes: a shell, which prints the number of its child, and that child.
process marked_family() {
  return process::start({.program = "sh",
                         .words = {"sh", "-c", "sleep 60 & echo $!; wait", mark + "-argument"},
                         .output = lines{},
                         .environment = {{"PROCESSES_TEST", std::to_string(::getpid())}}})
      .value();
}

TEST(processes, are_found_by_what_they_were_started_with) {
  auto shell = marked_family();
  const pid_t child = std::stoi(shell.channel().read_line(10s).value());
  EXPECT_TRUE(eventually([&] { return arguments_of(child).size() == 2; })); // Before its exec, it copies the shell.
  EXPECT_THAT(all_numbers(), Contains(shell.number()));
  EXPECT_THAT(with_variable(mark), UnorderedElementsAre(shell.number(), child));
  EXPECT_THAT(with_variable(mark.substr(0, mark.size() - 1)), Not(Contains(child)));
  EXPECT_THAT(with_argument(mark), UnorderedElementsAre(shell.number()));
  EXPECT_THAT(family_of(shell.number()), UnorderedElementsAre(shell.number(), child));
  EXPECT_THAT(family_of(::getpid()), Contains(child));
  EXPECT_EQ(arguments_of(child), (std::vector<std::string>{"sleep", "60"}));
  EXPECT_THAT(environment_of(child), Contains(mark));
  shell.kill();
  EXPECT_THAT(with_variable(mark), UnorderedElementsAre(child)); // Its parent is dead.
  ::kill(child, SIGKILL);
}

TEST(processes, have_a_state) {
  auto shell = marked_family();
  ASSERT_TRUE(shell.stop(10s));
  EXPECT_EQ(state_of(shell.number()), 'T');
  shell.signal(SIGKILL);
  EXPECT_TRUE(eventually([&] { return state_of(shell.number()) != 'T'; }));
  EXPECT_EQ(shell.wait(), killed_by(SIGKILL));
  EXPECT_EQ(state_of(shell.number()), '\0');
  for (const auto each : with_variable(mark))
    ::kill(each, SIGKILL);
}

} // namespace
} // namespace troupe::processes
