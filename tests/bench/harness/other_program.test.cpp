// Programs that peers need, and that they go when we do.
#include "harness/other_program.hpp"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <string>
#include <thread>

#include <gmock/gmock.h>

namespace bench::tests {
namespace {

using streams = other_program::streams;
using testing::HasSubstr;

TEST(other_program, is_spoken_with_in_lines) {
  auto program = other_program::start("/bin/cat", {"cat"}, streams::lines);
  ASSERT_TRUE(program) << program.error();
  program->write_line("one");
  program->write_line("two");
  EXPECT_EQ(program->read_line(), "one");
  EXPECT_EQ(program->read_line(), "two");
  EXPECT_TRUE(program->runs());
  program->send(SIGTERM);
  EXPECT_EQ(program->wait(), -SIGTERM);
  EXPECT_FALSE(program->read_line());
}

TEST(other_program, that_has_ended_says_so) {
  auto program = other_program::start("/bin/sh", {"sh", "-c", "printf last; exit 3"}, streams::lines);
  ASSERT_TRUE(program) << program.error();
  EXPECT_EQ(program->read_line().error(), "the program has ended: last");
  EXPECT_EQ(program->wait(), 3);
  EXPECT_FALSE(program->runs());
}

TEST(other_program, that_is_not_there_cannot_be_started) {
  const auto program = other_program::start("/nowhere/redis-server", {"redis-server"}, streams::none);
  ASSERT_FALSE(program);
  EXPECT_THAT(program.error(), HasSubstr("cannot start /nowhere/redis-server: "));
}

/// Whether the process runs; not when it is dead and waits for its parent to notice.
bool runs(pid_t process) {
  std::ifstream file{"/proc/" + std::to_string(process) + "/stat"};
  std::string line;
  std::getline(file, line);
  const auto name_end = line.rfind(") ");
  return name_end != std::string::npos && line[name_end + 2] != 'Z';
}

/// Whether it ends within some seconds. It need not be a child of ours.
bool ends(pid_t process) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (runs(process)) {
    if (std::chrono::steady_clock::now() > deadline)
      return false;
    std::this_thread::yield();
  }
  return true;
}

TEST(other_program, is_killed_with_its_object) {
  pid_t process = -1;
  {
    auto program = other_program::start("/bin/sh", {"sh", "-c", "echo $$; exec sleep 60"}, streams::lines);
    ASSERT_TRUE(program) << program.error();
    process = std::stoi(program->read_line().value());
  }
  EXPECT_TRUE(ends(process));
}

TEST(other_program, is_killed_with_the_process_that_started_it) {
  // A process between, which reports whom it has started and then waits to be killed.
  int report[2];
  ASSERT_EQ(::pipe(report), 0);
  const auto between = ::fork();
  if (between == 0) {
    auto program = other_program::start("/bin/sh", {"sh", "-c", "echo $$; exec sleep 60"}, streams::lines);
    const auto line = program ? program->read_line().value_or("0") : "0";
    const pid_t started = std::stoi(line);
    if (::write(report[1], &started, sizeof started) == sizeof started)
      for (;;)
        ::pause();
    ::_exit(1);
  }
  pid_t started = 0;
  ASSERT_EQ(::read(report[0], &started, sizeof started), static_cast<ssize_t>(sizeof started));
  ASSERT_GT(started, 0);
  ::kill(between, SIGKILL);
  EXPECT_EQ(::waitpid(between, nullptr, 0), between);
  EXPECT_TRUE(ends(started));
  ::close(report[0]);
  ::close(report[1]);
}

} // namespace
} // namespace bench::tests
