// A rolling upgrade and its way back: two servers and two users on one host, each replaced by a process of another
// version while the others work.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include <unistd.h>

#include <gtest/gtest.h>

#include <troupe/processes/process.hpp>

namespace troupe::tests {
namespace {

using namespace std::chrono_literals;

constexpr auto patience = 60s;
constexpr std::uint64_t batch = 8;              // As in exchange.cpp.
constexpr std::uint64_t answers_per_stage = 40; // Of each server to each user.

enum class version : std::uint8_t { earlier, current };

/// The program of the earlier version, if it was built; otherwise this version stands for both.
std::string program_of(version which) {
  const auto* earlier = std::getenv("TROUPE_EARLIER_EXCHANGE");
  return which == version::earlier && earlier != nullptr ? earlier : TROUPE_EXCHANGE;
}

processes::process start(version which, std::vector<std::string> words) {
  const auto program = program_of(which);
  words.insert(words.begin(), program);
  return processes::process::start({.program = program,
                                    .words = words,
                                    .input = processes::lines{},
                                    .output = processes::lines{},
                                    .errors = processes::inherited{}},
                                   patience)
      .value();
}

class rolling : public testing::Test {
protected:
  ~rolling() override {
    for (auto& each : users_)
      each.reset();
    for (auto& each : servers_)
      each.reset();
  }

  void start_server(std::size_t which, version of) {
    servers_[which].emplace(start(of, {"serve", store_, address(which)}));
    ASSERT_EQ(servers_[which]->channel().read_line(patience), "ready");
  }

  void start_user(std::size_t which, version of) {
    users_[which].emplace(start(of, {"use", store_, address(0), address(1)}));
    answered_[which] = {};
  }

  void stop_server(std::size_t which) {
    EXPECT_EQ(servers_[which]->end(patience), processes::exited_with(0));
    ++restarts_;
  }

  /// Expects that a user got right answers only, and had to repeat only what was in progress at a server that ended.
  void stop_user(std::size_t which) {
    users_[which]->channel().end_writing();
    std::string end;
    std::string rest;
    while (auto line = users_[which]->channel().read_line(patience))
      (line->starts_with("end ") ? end : rest) = *line;
    EXPECT_EQ(users_[which]->end(patience), processes::exited_with(0)) << rest;
    std::istringstream numbers{end.substr(std::min<std::size_t>(end.size(), 4))};
    std::uint64_t retried = 0;
    std::uint64_t wrong = 1;
    EXPECT_TRUE(numbers >> retried >> wrong) << end;
    EXPECT_EQ(wrong, 0u);
    EXPECT_LE(retried, restarts_ * (batch + 1)); // With the request for a gift.
  }

  /// Waits until each user has got this many more answers from each server.
  void expect_progress() {
    for (std::size_t which = 0; which < users_.size(); ++which) {
      while (const auto line = users_[which]->channel().read_line(0ms)) // Said before.
        read_report(which, *line);
      auto goal = answered_[which];
      for (auto& each : goal)
        each += answers_per_stage;
      const auto deadline = std::chrono::steady_clock::now() + patience;
      while (answered_[which][0] < goal[0] || answered_[which][1] < goal[1]) {
        ASSERT_LT(std::chrono::steady_clock::now(), deadline) << "user " << which << " gets no answers";
        const auto line = users_[which]->channel().read_line(patience);
        ASSERT_TRUE(line) << "user " << which << " has ended or is silent";
        ASSERT_NO_FATAL_FAILURE(read_report(which, *line));
      }
    }
  }

  void read_report(std::size_t which, const std::string& line) {
    std::istringstream words{line};
    std::string first;
    words >> first >> answered_[which][0] >> answered_[which][1];
    ASSERT_EQ(first, "answered") << line;
  }

  std::string address(std::size_t which) const { return "unix://@" + store_ + '-' + std::to_string(which); }

  void replace_server(std::size_t which, version by) {
    stop_server(which);
    start_server(which, by);
    expect_progress();
  }

  void replace_user(std::size_t which, version by) {
    stop_user(which);
    start_user(which, by);
    expect_progress();
  }

  static std::vector<std::string> left_in(const std::filesystem::path& folder, const std::string& part) {
    std::vector<std::string> result;
    for (const auto& each : std::filesystem::directory_iterator(folder))
      if (each.path().filename().string().find(part) != std::string::npos)
        result.push_back(each.path());
    return result;
  }

  const std::string store_ = "rolling-" + std::to_string(::getpid());
  std::array<std::optional<processes::process>, 2> servers_;
  std::array<std::optional<processes::process>, 2> users_;
  std::array<std::array<std::uint64_t, 2>, 2> answered_{};
  std::uint64_t restarts_ = 0;
};

TEST_F(rolling, restarts_lose_nothing_but_what_dies_with_a_process) {
  using enum version;
  for (std::size_t which = 0; which < 2; ++which)
    ASSERT_NO_FATAL_FAILURE(start_server(which, earlier));
  start_user(0, earlier);
  start_user(1, current);
  ASSERT_NO_FATAL_FAILURE(expect_progress());
  // Forward, back, and forward again.
  for (const auto by : {current, earlier, current}) {
    for (std::size_t which = 0; which < 2; ++which)
      ASSERT_NO_FATAL_FAILURE(replace_server(which, by));
    ASSERT_NO_FATAL_FAILURE(replace_user(by == current ? 0 : 1, by));
  }
  for (std::size_t which = 0; which < 2; ++which)
    stop_user(which);
  for (std::size_t which = 0; which < 2; ++which)
    stop_server(which);
  EXPECT_EQ(left_in("/dev/shm", store_), std::vector<std::string>{});
  EXPECT_EQ(left_in(std::filesystem::temp_directory_path(), store_), std::vector<std::string>{});
}

} // namespace
} // namespace troupe::tests
