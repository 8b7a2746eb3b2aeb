// Plays each frozen conversation against this version, once as its dialer and once as its acceptor.
#include <algorithm>
#include <cctype>
#include <exception>
#include <filesystem>
#include <future>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "fresh_recording.hpp"
#include "player.hpp"
#include "recordings.hpp"

namespace troupe::tests::compat {
namespace {

std::string joined(const std::vector<std::string>& problems) {
  std::string result;
  for (const auto& each : problems)
    result += each + '\n';
  return result;
}

/// Runs `play` on a thread of its own. get() returns its failure, or an empty text.
template <class Play>
std::future<std::string> beside(Play play) {
  return std::async(std::launch::async, [play]() -> std::string {
    try {
      play();
      return {};
    } catch (const std::exception& error) {
      return error.what();
    }
  });
}

/// Returns why the recorded dialer and the live acceptor do not understand each other, or an empty text.
std::string failure_of_dialer(acceptor_cast& live, const conversation& recorded) {
  try {
    player{dial(live.address()), end::dialer, recorded}.play();
    return {};
  } catch (const std::exception& error) {
    return error.what();
  }
}

void expect_dialer_is_understood(const conversation& recorded) {
  acceptor_cast live{recorded.family};
  EXPECT_EQ(failure_of_dialer(live, recorded), "");
  EXPECT_EQ(joined(live.problems()), "");
}

void expect_acceptor_is_understood(const conversation& recorded) {
  const entrance at;
  std::promise<void> said;
  auto failure = beside([&] {
    std::once_flag once;
    const auto go_on = [&] { std::call_once(once, [&] { said.set_value(); }); };
    // Also on failure, so that the live end does not wait for ever.
    const std::shared_ptr<void> in_any_case{nullptr, [&](void*) { go_on(); }};
    player{at.accept(), end::acceptor, recorded}.play(go_on);
  });
  std::vector<std::string> problems;
  try {
    problems = hold_conversation(recorded.family, at.address(), [&] { said.get_future().wait(); });
  } catch (const std::exception& error) {
    problems.emplace_back(error.what());
  }
  EXPECT_EQ(failure.get(), "");
  EXPECT_EQ(joined(problems), "");
}

/// The parameter is a file's path below frozen/, which is the same in each checkout.
class frozen : public testing::TestWithParam<std::string> {
protected:
  static conversation recorded() { return read_conversation(std::filesystem::path{TROUPE_FROZEN} / GetParam()); }
};

std::vector<std::string> names() {
  std::vector<std::string> result;
  for (const auto& each : recordings())
    result.push_back(std::filesystem::relative(each, TROUPE_FROZEN).string());
  return result;
}

std::string name_of(const testing::TestParamInfo<std::string>& of) {
  auto name = std::filesystem::path{of.param}.replace_extension().string();
  std::ranges::replace_if(
      name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return name;
}

TEST_P(frozen, dialer_is_understood) {
  expect_dialer_is_understood(recorded());
}

TEST_P(frozen, acceptor_is_understood) {
  expect_acceptor_is_understood(recorded());
}

TEST(recording, of_this_version_can_be_played) {
  const auto fresh = record("msgpack");
  expect_dialer_is_understood(fresh);
  expect_acceptor_is_understood(fresh);
}

/// Plays a damaged recording and expects to be told what is wrong.
class damaged : public testing::Test {
protected:
  packet& first(end from, std::uint8_t kind, std::uint8_t detail) {
    const auto at = std::ranges::find_if(recorded_.packets, [&](const packet& each) {
      return each.from == from && each.kind == kind && each.detail == detail;
    });
    EXPECT_NE(at, recorded_.packets.end());
    return *at;
  }

  void expect_failure(const std::string& part) {
    acceptor_cast live{recorded_.family};
    const auto failure = failure_of_dialer(live, recorded_);
    EXPECT_NE(failure.find(part), std::string::npos) << failure;
  }

  conversation recorded_ = read_conversation(recordings().back()); // Of the family "typed".
};

TEST_F(damaged, an_answer_of_the_live_end_with_another_value_is_noticed) {
  auto& answer = first(end::acceptor, kind::message, 4);
  answer.body.back() ^= std::byte{1};
  expect_failure("element[0].inline[0] is");
}

TEST_F(damaged, a_message_with_another_value_is_noticed) {
  const auto text = std::ranges::find_if(
      recorded_.packets, [](const packet& each) { return each.from == end::dialer && each.kind == kind::chunk; });
  ASSERT_NE(text, recorded_.packets.end());
  text->body.back() = std::byte{'z'};
  acceptor_cast live{recorded_.family};
  EXPECT_NE(failure_of_dialer(live, recorded_).find("the recording has no such packet"), std::string::npos);
  EXPECT_NE(joined(live.problems()).find("a text has other characters"), std::string::npos);
}

TEST_F(damaged, a_feature_that_the_live_end_has_lost_is_noticed) {
  auto& hello = first(end::acceptor, kind::admin, op::hello);
  const std::string name = "deadlines";
  const auto at = std::ranges::search(hello.body, std::as_bytes(std::span{name}));
  ASSERT_FALSE(at.empty());
  at.front() = std::byte{'D'};
  expect_failure("features[Deadlines] is missing");
}

INSTANTIATE_TEST_SUITE_P(compat, frozen, testing::ValuesIn(names()), name_of);

} // namespace
} // namespace troupe::tests::compat
