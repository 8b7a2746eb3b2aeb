// Child processes: their input and output, and how they end. They end with this process.
#include <troupe/processes/listing.hpp>
#include <troupe/processes/process.hpp>

#include "../eventually.hpp"

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gmock/gmock.h>

namespace troupe::processes {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using tests::eventually;

constexpr auto patience = 10s;

process shell(const std::string& line, std::chrono::milliseconds at_destruction = 0ms) {
  return process::start({.program = "sh", .words = {"sh", "-c", line}, .input = lines{}, .output = lines{}},
                        at_destruction)
      .value();
}

bool is_gone(pid_t number) {
  const auto state = state_of(number);
  return state == '\0' || state == 'Z';
}

TEST(process, is_spoken_with_in_lines) {
  auto cat = process::start({.program = "/bin/cat", .words = {"cat"}, .input = lines{}, .output = lines{}}).value();
  EXPECT_TRUE(cat.channel().write_line("one"));
  EXPECT_TRUE(cat.channel().write_line("two"));
  EXPECT_EQ(cat.channel().read_line(patience), "one");
  EXPECT_EQ(cat.channel().read_line(patience), "two");
  EXPECT_EQ(cat.channel().read_line(20ms), std::unexpected{silence::timed_out});
  EXPECT_TRUE(cat.runs());
  EXPECT_EQ(cat.end(patience), exited_with(0));
  EXPECT_EQ(cat.channel().read_line(patience), std::unexpected{silence::ended});
}

// Goal: a start does not wait for processes that another thread forks meanwhile, although they inherit its descriptors.
TEST(process, starts_while_another_thread_forks) {
  std::atomic<bool> is_over{false};
  std::vector<pid_t> forked;
  std::thread forking{[&] {
    while (!is_over && forked.size() < 1'000) {
      const auto number = ::fork();
      if (number == 0) {
        ::alarm(30);
        for (;;)
          ::pause();
      }
      if (number > 0)
        forked.push_back(number);
    }
  }};
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 30; ++i) {
    auto brief = process::start({.program = "true", .words = {"true"}});
    EXPECT_TRUE(brief) << brief.error();
  }
  const auto taken = std::chrono::steady_clock::now() - begin;
  is_over = true;
  forking.join();
  for (const auto number : forked) {
    ::kill(number, SIGKILL);
    ::waitpid(number, nullptr, 0);
  }
  EXPECT_LT(taken, 20s);
}

TEST(process, is_told_nothing_any_more_once_it_has_ended) {
  auto ended = shell("exit 3");
  EXPECT_EQ(ended.wait(), exited_with(3));
  EXPECT_FALSE(ended.channel().write_line("hello"));
  EXPECT_FALSE(ended.runs());
  ended.signal(SIGKILL); // Does not affect another process with the same number.
}

TEST(process, says_how_it_ended) {
  EXPECT_EQ(shell("exit 3").wait(), exited_with(3));
  EXPECT_EQ(text_of(shell("exit 3").wait()), "ended with status 3");
  const auto killed = shell("kill -TERM $$").wait();
  EXPECT_EQ(killed, killed_by(SIGTERM));
  EXPECT_EQ(killed.status(), 128 + SIGTERM);
  EXPECT_EQ(text_of(killed), "was killed by signal 15 (Terminated)");
}

TEST(process, that_says_more_than_a_pipe_holds_can_end_before_it_is_read) {
  auto talker = shell("head -c 1000000 /dev/zero");
  EXPECT_EQ(talker.end(patience), exited_with(0));
  EXPECT_EQ(talker.channel().read_all().size(), 1'000'000u);
}

TEST(process, is_killed_when_it_does_not_end_in_time) {
  EXPECT_EQ(shell("exec sleep 60").end(50ms), killed_by(SIGKILL));
}

TEST(process, has_until_the_patience_of_its_destructor_is_over) {
  const auto file = std::filesystem::temp_directory_path() / ("processes_test-" + std::to_string(::getpid()));
  { const auto quick = shell("read line; echo done > " + file.string(), patience); }
  EXPECT_TRUE(std::filesystem::remove(file));
}

TEST(process, that_cannot_be_executed_says_why) {
  const auto none = process::start({.program = "/nowhere/redis-server", .words = {"redis-server"}});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error(), "cannot start /nowhere/redis-server: No such file or directory");
}

TEST(process, whose_file_cannot_be_opened_says_why) {
  const auto none = process::start({.program = "true", .words = {"true"}, .input = file{"/nowhere/input"}});
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error(), HasSubstr("No such file or directory"));
}

TEST(process, reads_and_writes_files) {
  const auto path = std::filesystem::temp_directory_path() / ("processes_test-" + std::to_string(::getpid()));
  const auto run = [](start_options options) {
    options.program = "sh";
    EXPECT_EQ(process::start(options).value().wait(), exited_with(0));
  };
  run({.words = {"sh", "-c", "echo first; echo second >&2"}, .output = file{path}, .errors = nothing{}});
  run({.words = {"sh", "-c", "read line; test \"$line\" = first && ! read line"}, .input = file{path}});
  EXPECT_TRUE(std::filesystem::remove(path));
}

TEST(process, says_its_errors_beside_its_output) {
  auto both = process::start({.program = "sh",
                              .words = {"sh", "-c", "echo out; echo error >&2; printf end"},
                              .output = lines{},
                              .errors = lines{}})
                  .value();
  EXPECT_EQ(both.channel().read_all(), "out\nerror\nend");
}

TEST(process, has_an_environment_of_its_own) {
  ::setenv("PROCESSES_TEST_KEPT", "kept", 1);
  ::setenv("PROCESSES_TEST_REPLACED", "old", 1);
  auto started = process::start({.program = "sh",
                                 .words = {"sh", "-c", "echo $PROCESSES_TEST_KEPT $PROCESSES_TEST_REPLACED $NEW"},
                                 .output = lines{},
                                 .environment = {{"PROCESSES_TEST_REPLACED", "new"}, {"NEW", "more"}}})
                     .value();
  EXPECT_EQ(started.channel().read_line(patience), "kept new more");
}

TEST(process, has_no_blocked_signal_and_no_other_descriptor) {
  const int open = ::open("/dev/null", O_RDONLY); // Not closed at exec.
  sigset_t term, before;
  ::sigemptyset(&term);
  ::sigaddset(&term, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &term, &before);
  auto looks = shell("grep SigBlk /proc/self/status; test -e /proc/$$/fd/" + std::to_string(open) + " || echo closed");
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  EXPECT_EQ(looks.channel().read_line(patience), "SigBlk:\t0000000000000000");
  EXPECT_EQ(looks.channel().read_line(patience), "closed");
  ::close(open);
}

TEST(process, is_stopped_and_goes_on) {
  auto cat = process::start({.program = "cat", .words = {"cat"}, .input = lines{}, .output = lines{}}).value();
  EXPECT_TRUE(cat.stop(patience));
  EXPECT_EQ(state_of(cat.number()), 'T');
  cat.channel().write_line("meanwhile");
  EXPECT_EQ(cat.channel().read_line(20ms), std::unexpected{silence::timed_out});
  cat.go_on();
  EXPECT_EQ(cat.channel().read_line(patience), "meanwhile");
  cat.kill();
  EXPECT_FALSE(cat.stop(patience));
}

TEST(process, leads_a_group_that_a_signal_reaches_as_a_whole) {
  auto leader =
      process::start(
          {.program = "sh", .words = {"sh", "-c", "sleep 60 & echo $!; wait"}, .output = lines{}, .own_group = true})
          .value();
  const auto sleeper = std::stoi(leader.channel().read_line(patience).value());
  leader.signal_group(SIGTERM);
  EXPECT_EQ(leader.wait(), killed_by(SIGTERM));
  EXPECT_TRUE(eventually([&] { return is_gone(sleeper); }));
}

TEST(process, runs_a_function_of_ours) {
  EXPECT_EQ(process::fork([] { return 7; }).value().wait(), exited_with(7));
}

TEST(process, that_is_forked_is_spoken_with) {
  auto adder = process::fork([](line_channel& parent) {
                 int sum = 0;
                 while (const auto line = parent.read_line())
                   sum += std::stoi(*line);
                 parent.write_line(std::to_string(sum));
                 return 0;
               }).value();
  adder.channel().write_line("2");
  adder.channel().write_line("3");
  const auto sibling = process::fork([] { return ::pause(); }).value(); // It inherits all open files of this process.
  adder.channel().end_writing();
  EXPECT_EQ(adder.channel().read_line(patience), "5");
  EXPECT_EQ(adder.end(patience), exited_with(0));
}

TEST(process, that_throws_ends_at_once) {
  auto thrower = process::fork([]() -> int {
                   ::close(STDERR_FILENO);
                   throw std::runtime_error("not to be seen");
                 }).value();
  EXPECT_EQ(thrower.wait(), killed_by(SIGABRT));
}

TEST(process, is_killed_with_its_object) {
  pid_t number = -1;
  {
    const auto sleeper = shell("exec sleep 60");
    number = sleeper.number();
    EXPECT_FALSE(is_gone(number));
  }
  EXPECT_TRUE(is_gone(number));
}

TEST(process, can_be_given_away) {
  auto first = shell("exec sleep 60");
  auto second = std::move(first);
  first = shell("exit 1");
  EXPECT_TRUE(second.runs());
  EXPECT_EQ(first.wait(), exited_with(1));
}

// Goal: if a process is killed, its children end.
// Method: a process in between starts the children, reports their numbers, and is killed.
TEST(process, is_killed_with_the_process_that_started_it) {
  auto between = process::fork([](line_channel& parent) {
                   const auto started = shell("exec sleep 60");
                   const auto forked = process::fork([] { return ::pause(); }).value();
                   parent.write_line(std::to_string(started.number()));
                   parent.write_line(std::to_string(forked.number()));
                   return ::pause();
                 }).value();
  const auto started = std::stoi(between.channel().read_line(patience).value());
  const auto forked = std::stoi(between.channel().read_line(patience).value());
  EXPECT_EQ(between.kill(), killed_by(SIGKILL));
  EXPECT_TRUE(eventually([&] { return is_gone(started) && is_gone(forked); }));
}

TEST(process, leaves_the_children_of_others_to_them) {
  const auto stranger = ::fork();
  if (stranger == 0)
    ::_exit(5);
  EXPECT_EQ(shell("exit 3").wait(), exited_with(3));
  int status = 0;
  EXPECT_EQ(::waitpid(stranger, &status, 0), stranger);
  EXPECT_EQ(ending_of(status), exited_with(5));
}

} // namespace
} // namespace troupe::processes
