// The log's output to the standard error stream. Whatever the reader does, no thread waits for it and no process ends
// because of it.
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <pty.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <termios.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <troupe/framework/internal/words/error_stream.hpp>
#include <troupe/framework/internal/words/log.hpp>
#include <troupe/processes/process.hpp>

namespace troupe::tests {
namespace {

using internal::error_stream;
using namespace std::chrono_literals;

/// Two connected descriptors.
struct ends {
  int reader = -1;
  int writer = -1;

  ends() = default;
  ends(int reading, int writing) : reader(reading), writer(writing) {}
  ~ends() {
    close_reader();
    if (writer >= 0)
      ::close(writer);
  }
  ends(const ends&) = delete;
  ends& operator=(const ends&) = delete;
  void close_reader() {
    if (const auto closing = std::exchange(reader, -1); closing >= 0)
      ::close(closing);
  }

  /// Reads everything that is there now.
  [[nodiscard]] std::string read_now() const {
    std::string all;
    std::array<char, 4096> some{};
    ::fcntl(reader, F_SETFL, ::fcntl(reader, F_GETFL) | O_NONBLOCK);
    for (ssize_t count = 0; (count = ::read(reader, some.data(), some.size())) > 0;)
      all.append(some.data(), static_cast<std::size_t>(count));
    return all;
  }
};

std::unique_ptr<ends> made_of(const std::array<int, 2>& both, bool is_made) {
  if (!is_made)
    throw std::runtime_error("no descriptors");
  return std::make_unique<ends>(both[0], both[1]);
}

std::unique_ptr<ends> pipe_ends() {
  std::array<int, 2> both{};
  const auto is_made = ::pipe2(both.data(), O_CLOEXEC) == 0;
  return made_of(both, is_made);
}

std::unique_ptr<ends> socket_ends() {
  std::array<int, 2> both{};
  const auto is_made = ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, both.data()) == 0;
  return made_of(both, is_made);
}

std::unique_ptr<ends> terminal_ends() {
  std::array<int, 2> both{};
  const auto is_made = ::openpty(&both[0], &both[1], nullptr, nullptr, nullptr) == 0;
  return made_of(both, is_made);
}

struct stream_kind {
  const char* name;
  std::unique_ptr<ends> (*make)();
};

class error_stream_to : public testing::TestWithParam<stream_kind> {
protected:
  /// Returns false if `work` has not returned after a minute; then reads until it does.
  bool returns(const std::function<void()>& work) const {
    auto done = std::async(std::launch::async, work);
    if (done.wait_for(60s) == std::future_status::ready)
      return true;
    while (done.wait_for(10ms) != std::future_status::ready)
      [[maybe_unused]] auto taken = ends_->read_now();
    return false;
  }

  const std::unique_ptr<ends> ends_ = GetParam().make();
  error_stream stream_{ends_->writer};
};

INSTANTIATE_TEST_SUITE_P(each, error_stream_to,
                         testing::Values(stream_kind{"pipe", pipe_ends}, stream_kind{"socket", socket_ends},
                                         stream_kind{"terminal", terminal_ends}),
                         [](const auto& with) { return with.param.name; });

TEST_P(error_stream_to, a_line_arrives_as_it_is) {
  stream_.write("troupe info: one");
  stream_.write("troupe info: two");
  auto text = ends_->read_now();
  std::erase(text, '\r'); // Added by a terminal.
  EXPECT_EQ(text, "troupe info: one\ntroupe info: two\n");
}

// Goal: if a stopped reader does not take lines, they are dropped, and the output says so.
TEST_P(error_stream_to, a_reader_that_has_stopped_holds_up_nobody_and_is_told_what_it_missed) {
  const std::string line = "troupe warning: " + std::string(200, 'x');
  EXPECT_TRUE(returns([&] {
    for (int i = 0; i < 10'000; ++i)
      stream_.write(line);
  }));
  const auto left_out = stream_.left_out();
  EXPECT_GT(left_out, 1'000u);
  EXPECT_EQ(::fcntl(ends_->writer, F_GETFL) & O_NONBLOCK, 0); // Other programs also write to it.
  auto before = ends_->read_now();
  // A terminal forwards its bytes in small amounts.
  for (int i = 0; i < 1'000 && stream_.left_out() > 0; ++i) {
    stream_.write("troupe warning: it goes on");
    before += ends_->read_now();
  }
  EXPECT_EQ(stream_.left_out(), 0u);
  std::erase(before, '\r');
  const auto told = before.find(" lines were left out here: standard error was blocked\ntroupe warning: it goes on\n");
  ASSERT_NE(told, std::string::npos);
  // There are only whole lines, even if some were taken in parts.
  for (std::size_t begin = 0; begin < before.size();) {
    const auto end = before.find('\n', begin);
    ASSERT_NE(end, std::string::npos);
    const auto each = before.substr(begin, end - begin);
    EXPECT_TRUE(each == line || each.ends_with("it goes on") || each.ends_with("standard error was blocked")) << each;
    begin = end + 1;
  }
}

TEST_P(error_stream_to, a_reader_that_is_gone_ends_nobody) {
  ends_->close_reader();
  for (int i = 0; i < 3; ++i)
    stream_.write("troupe warning: nobody hears");
  EXPECT_EQ(stream_.left_out(), 3u);
  sigset_t pending;
  ::sigpending(&pending);
  EXPECT_EQ(::sigismember(&pending, SIGPIPE), 0);
}

TEST(error_stream, a_line_is_cut_to_what_one_write_takes) {
  const auto pipe = pipe_ends();
  error_stream stream{pipe->writer};
  stream.write(std::string(100'000, 'x'));
  EXPECT_EQ(pipe->read_now(), std::string(error_stream::line_bytes_max - 1, 'x') + '\n');
}

TEST(error_stream, a_terminal_that_is_halted_holds_up_nobody) {
  const auto terminal = terminal_ends();
  ASSERT_EQ(::tcflow(terminal->writer, TCOOFF), 0);
  error_stream stream{terminal->writer};
  stream.write("troupe warning: behind a halted terminal");
  EXPECT_EQ(stream.left_out(), 1u);
  ASSERT_EQ(::tcflow(terminal->writer, TCOON), 0);
  stream.write("troupe warning: goes on");
  EXPECT_EQ(stream.left_out(), 0u);
}

TEST(error_stream, a_file_that_may_not_grow_ends_nobody) {
  std::array<char, 32> path{"/tmp/troupe-log-XXXXXX"};
  const auto file = ::mkostemp(path.data(), O_CLOEXEC);
  ASSERT_GE(file, 0);
  ::unlink(path.data());
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{.rlim_cur = 100, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  error_stream stream{file};
  for (int i = 0; i < 10; ++i)
    stream.write("troupe warning: twenty-nine bytes");
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_GT(stream.left_out(), 0u);
  ::close(file);
}

TEST(error_stream, a_descriptor_that_is_closed_ends_nobody) {
  error_stream stream{-1};
  stream.write("troupe warning: to nowhere");
  EXPECT_EQ(stream.left_out(), 1u);
}

TEST(error_stream, a_signal_that_waited_before_waits_afterwards) {
  sigset_t pipe_signal, before, pending;
  ::sigemptyset(&pipe_signal);
  ::sigaddset(&pipe_signal, SIGPIPE);
  ::pthread_sigmask(SIG_BLOCK, &pipe_signal, &before);
  ::pthread_kill(::pthread_self(), SIGPIPE);
  const auto pipe = pipe_ends();
  error_stream{pipe->writer}.write("troupe warning: x");
  ::sigpending(&pending);
  EXPECT_EQ(::sigismember(&pending, SIGPIPE), 1);
  const timespec at_once{};
  EXPECT_EQ(::sigtimedwait(&pipe_signal, nullptr, &at_once), SIGPIPE);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

// -- fork

/// Runs `work` in a child process for at most a minute. Returns how the child ends.
processes::ending ending_of_child(const std::function<void()>& work) {
  const auto with_status = [&] {
    work();
    return 0;
  };
  return processes::process::fork(with_status).value().end(std::chrono::seconds{60});
}

// Goal: a forked child can log, whatever other threads did at the moment of the fork.
TEST(log_and_fork, a_child_logs_though_other_threads_were_logging) {
  std::atomic<int> logged{0};
  set_log_sink([&](log_level, std::string_view) { ++logged; });
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 2; ++i)
      threads.emplace_back([&](const std::stop_token& stop) {
        while (!stop.stop_requested())
          internal::write_log(log_level::warning, "x");
      });
    for (int i = 0; i < 50; ++i)
      ASSERT_EQ(ending_of_child([] {
                  ::close(STDERR_FILENO);
                  internal::write_log(log_level::warning, "from a child");
                  set_log_sink(nullptr);
                }),
                processes::exited_with(0))
          << i;
    const auto before = logged.load();
    const auto deadline = std::chrono::steady_clock::now() + 60s;
    while (logged == before && std::chrono::steady_clock::now() < deadline)
      std::this_thread::yield();
    EXPECT_GT(logged, before); // The parent's threads continue.
  }
  set_log_sink(nullptr);
}

TEST(log_and_fork, a_sink_may_fork) {
  processes::ending how;
  set_log_sink([&](log_level, std::string_view) { how = ending_of_child([] {}); });
  internal::write_log(log_level::warning, "x");
  EXPECT_EQ(how, processes::exited_with(0));
  set_log_sink(nullptr);
}

TEST(log_and_fork, the_sink_is_the_childs_as_well) {
  const auto pipe = pipe_ends();
  set_log_sink([&](log_level, std::string_view text) {
    [[maybe_unused]] auto written = ::write(pipe->writer, text.data(), text.size());
  });
  EXPECT_EQ(ending_of_child([] { internal::write_log(log_level::warning, "from the child"); }),
            processes::exited_with(0));
  set_log_sink(nullptr);
  EXPECT_EQ(pipe->read_now(), "from the child");
}

// Goal: a thread stuck in a sink prevents neither a fork nor the child's lines.
TEST(log_and_fork, a_sink_that_runs_elsewhere_is_not_the_childs) {
  std::promise<void> entered, leave;
  set_log_sink([&](log_level, std::string_view) {
    entered.set_value();
    leave.get_future().wait();
  });
  std::jthread stuck{[] { internal::write_log(log_level::warning, "stays within"); }};
  entered.get_future().wait();
  const auto pipe = pipe_ends();
  EXPECT_EQ(ending_of_child([&] {
              ::dup2(pipe->writer, STDERR_FILENO);
              internal::write_log(log_level::warning, "from the child");
            }),
            processes::exited_with(0));
  leave.set_value();
  stuck.join();
  set_log_sink(nullptr);
  EXPECT_EQ(pipe->read_now(), "troupe warning: from the child\n");
}

} // namespace
} // namespace troupe::tests
