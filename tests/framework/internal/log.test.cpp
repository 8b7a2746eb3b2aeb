#include "../log_lines.hpp"

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include <gtest/gtest.h>

#include <troupe/framework/internal/words/log.hpp>
#include <troupe/processes/process.hpp>

namespace troupe::tests {
namespace {

using internal::log;

TEST(log, the_sink_gets_what_the_threshold_admits) {
  log_lines lines{log_level::warning};
  log(log_level::error, "one");
  log(log_level::warning, [] { return std::string{"two"}; });
  log(log_level::info, "three");
  log(log_level::off, "four");
  set_log_threshold(log_level::debug);
  log(log_level::debug, "five");
  set_log_threshold(log_level::off);
  log(log_level::error, "six");
  EXPECT_EQ(lines.text(), "error: one\nwarning: two\ndebug: five\n");
}

TEST(log, a_text_that_nobody_reads_is_not_made) {
  log_lines lines{log_level::warning};
  int made = 0;
  const auto text = [&] { return "number " + std::to_string(++made); };
  log(log_level::debug, text);
  EXPECT_EQ(made, 0);
  log(log_level::warning, text);
  EXPECT_EQ(made, 1);
}

TEST(log, a_line_is_one_and_bounded_whatever_is_in_it) {
  log_lines lines{log_level::warning};
  log(log_level::warning, "a\ntroupe error: b\x1b[31m\xff");
  log(log_level::warning, std::string(100'000, 'x'));
  ASSERT_EQ(lines.all().size(), 2u);
  EXPECT_EQ(lines.all()[0], "warning: a?troupe error: b?[31m?");
  EXPECT_EQ(lines.all()[1].size(), std::string{"warning: "}.size() + 4096);
}

TEST(log, without_a_sink_lines_go_to_the_error_stream) {
  const auto before = log_threshold();
  set_log_threshold(log_level::info);
  testing::internal::CaptureStderr();
  log(log_level::info, "link to far is open");
  set_log_threshold(before);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "troupe info: link to far is open\n");
}

TEST(log, a_sink_may_throw_and_log_and_take_another_sink) {
  log_lines lines{log_level::warning};
  set_log_sink([](log_level, std::string_view) {
    log(log_level::warning, "from within"); // Not written, or it would never end.
    set_log_sink(nullptr);
    throw std::runtime_error("the sink's own affair");
  });
  log(log_level::warning, "to the sink");
  testing::internal::CaptureStderr();
  log(log_level::warning, "to the stream");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "troupe warning: to the stream\n");
}

// Goal: a sink is called by one thread at a time, and never after it was replaced.
TEST(log, sinks_are_called_one_at_a_time_and_not_after_their_end) {
  log_lines lines{log_level::warning};
  std::atomic<int> inside{0}, most{0}, calls{0};
  auto lives = std::make_shared<std::atomic<bool>>(true);
  std::atomic<bool> called_dead{false};
  set_log_sink([&, lives](log_level, std::string_view) {
    most = std::max(most.load(), ++inside);
    called_dead = called_dead || !*lives;
    ++calls;
    --inside;
  });
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&](const std::stop_token& stop) {
      while (!stop.stop_requested())
        log(log_level::warning, "x");
    });
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds{10};
  while (calls < 1'000 && std::chrono::steady_clock::now() < deadline)
    std::this_thread::yield();
  set_log_sink([](log_level, std::string_view) {});
  *lives = false;
  EXPECT_EQ(lives.use_count(), 1);
  threads.clear();
  EXPECT_GE(calls, 1'000);
  EXPECT_EQ(most, 1);
  EXPECT_FALSE(called_dead);
}

TEST(log, each_level_has_a_name) {
  for (const auto* name : {"off", "error", "warning", "info", "debug"}) {
    const auto read = internal::read_threshold(name);
    EXPECT_EQ(to_string(read.level), name);
    EXPECT_EQ(read.complaint, "");
  }
  EXPECT_EQ(internal::read_threshold(nullptr).level, log_level::warning);
  EXPECT_EQ(internal::read_threshold("").level, log_level::warning);
}

constexpr auto program_variable = "TROUPE_TEST_IS_LOG_PROGRAM";

/// The program that the next test starts, since the environment is read only once per process.
[[maybe_unused]] const bool is_program = [] {
  if (std::getenv(program_variable) == nullptr)
    return false;
  log(log_level::error, "an error");
  log(log_level::warning, "a warning");
  log(log_level::info, "an info");
  log(log_level::debug, "a detail");
  std::_Exit(0);
}();

/// `level`: the value of TROUPE_LOG, or nullopt to unset it.
std::string logged_with(const std::optional<std::string>& level) {
  std::vector<std::string> words{"env"};
  if (!level)
    words.insert(words.end(), {"-u", "TROUPE_LOG"});
  words.push_back(std::filesystem::read_symlink("/proc/self/exe").string());
  processes::start_options options{.program = "env",
                                   .words = std::move(words),
                                   .output = processes::lines{},
                                   .errors = processes::lines{},
                                   .environment = {{program_variable, "1"}}};
  if (level)
    options.environment.emplace_back("TROUPE_LOG", *level);
  auto program = processes::process::start(options).value();
  auto output = program.channel().read_all();
  EXPECT_EQ(program.wait(), processes::exited_with(0));
  return output;
}

TEST(log, the_environment_says_how_much) {
  const std::string two = "troupe error: an error\ntroupe warning: a warning\n";
  EXPECT_EQ(logged_with(std::nullopt), two);
  EXPECT_EQ(logged_with("off"), "");
  EXPECT_EQ(logged_with("error"), "troupe error: an error\n");
  EXPECT_EQ(logged_with("debug"), two + "troupe info: an info\ntroupe debug: a detail\n");
  EXPECT_EQ(logged_with("loud"),
            "troupe warning: TROUPE_LOG is \"loud\", known are off, error, warning, info, debug; warning is used\n"
                + two);
}

} // namespace
} // namespace troupe::tests
