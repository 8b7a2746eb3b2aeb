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
std::string failure_of_dialer(listening_cast& live, const conversation& recorded) {
  try {
    played_node dialer;
    for (const auto& link : recorded.links)
      player{dial(live.address()), end::dialer, link, dialer}.play();
    return {};
  } catch (const std::exception& error) {
    return error.what();
  }
}

void expect_dialer_is_understood(const conversation& recorded) {
  const auto live = subject_of(recorded.subject).listen(recorded.family);
  EXPECT_EQ(failure_of_dialer(*live, recorded), "");
  EXPECT_EQ(joined(live->problems()), "");
}

void expect_acceptor_is_understood(const conversation& recorded) {
  const entrance at;
  std::promise<void> said;
  auto failure = beside([&] {
    std::once_flag once;
    const auto go_on = [&] { std::call_once(once, [&] { said.set_value(); }); };
    // Also on failure, so that the live end does not wait for ever.
    const std::shared_ptr<void> in_any_case{nullptr, [&](void*) { go_on(); }};
    played_node acceptor;
    for (const auto& link : recorded.links)
      player{at.accept(), end::acceptor, link, acceptor}.play(go_on);
  });
  std::vector<std::string> problems;
  try {
    problems = subject_of(recorded.subject).talk(recorded.family, at.address(), {.before_close = [&] {
                                                   said.get_future().wait();
                                                 }});
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
  for (const auto& about : subjects()) {
    const auto fresh = record(about, "msgpack");
    expect_dialer_is_understood(fresh);
    expect_acceptor_is_understood(fresh);
  }
}

constexpr auto values_file = "0.1-protocol-1.2/typed";
constexpr auto lasting_file = "0.1-protocol-1.4/typed.lasting";

conversation frozen_file(const std::string& file) {
  return read_conversation(std::filesystem::path{TROUPE_FROZEN} / (file + ".conversation"));
}

TEST(recording, may_ask_for_a_name_more_often_than_the_live_end) {
  constexpr std::size_t query_at = 7;
  auto recorded = frozen_file(lasting_file);
  auto& link = recorded.links.at(1);
  const auto is_op = [](std::uint8_t operation) {
    return [operation](const packet& each) { return each.kind == kind::admin && each.detail == operation; };
  };
  const auto find = std::ranges::find_if(link, is_op(op::find));
  const auto found = std::ranges::find_if(link, is_op(op::found));
  packets again{*find, *found};
  for (auto& each : again)
    each.body.at(query_at) = std::byte{99};
  link.insert(found + 1, again.begin(), again.end());
  // The first release of the dialer is about this actor.
  const auto release = std::ranges::find_if(
      link, [&](const packet& each) { return each.from == end::dialer && is_op(op::release_actor)(each); });
  release->body.back() = static_cast<std::byte>(std::to_integer<int>(release->body.back()) + 1);
  expect_dialer_is_understood(recorded);
  expect_acceptor_is_understood(recorded);
}

/// Plays a damaged recording and expects to be told what is wrong.
class damaged : public testing::Test {
protected:
  void read(const std::string& file) { recorded_ = frozen_file(file); }

  template <class Condition>
  packet& first_of(end from, Condition&& condition) {
    for (auto& link : recorded_.links)
      for (auto& each : link)
        if (each.from == from && condition(each))
          return each;
    throw std::runtime_error("the recording has no such packet");
  }
  packet& first(end from, std::uint8_t kind, std::uint8_t detail) {
    return first_of(from, [&](const packet& each) { return each.kind == kind && each.detail == detail; });
  }

  void expect_failure(const std::string& part, const std::string& problem = {}) {
    const auto live = subject_of(recorded_.subject).listen(recorded_.family);
    const auto failure = failure_of_dialer(*live, recorded_);
    EXPECT_NE(failure.find(part), std::string::npos) << failure;
    const auto problems = joined(live->problems());
    EXPECT_NE(problems.find(problem), std::string::npos) << problems;
  }

  conversation recorded_;
};

TEST_F(damaged, an_answer_of_the_live_end_with_another_value_is_noticed) {
  read(values_file);
  auto& answer = first(end::acceptor, kind::message, 4);
  answer.body.back() ^= std::byte{1};
  expect_failure("element[0].inline[0] is");
}

TEST_F(damaged, a_message_with_another_value_is_noticed) {
  read(values_file);
  first_of(end::dialer, [](const packet& each) { return each.kind == kind::chunk; }).body.back() = std::byte{'z'};
  expect_failure("the recording has no such packet", "a text has other characters");
}

TEST_F(damaged, a_feature_that_the_live_end_has_lost_is_noticed) {
  read(values_file);
  auto& hello = first(end::acceptor, kind::admin, op::hello);
  const std::string name = "deadlines";
  const auto at = std::ranges::search(hello.body, std::as_bytes(std::span{name}));
  ASSERT_FALSE(at.empty());
  at.front() = std::byte{'D'};
  expect_failure("features[Deadlines] is missing");
}

/// The bytes of an entry's value in the nth extended message of a link's dialer.
class damaged_extension : public damaged {
protected:
  damaged_extension() { read(lasting_file); }

  std::span<std::byte> value(std::size_t link, std::size_t nth, std::initializer_list<int> entry_head) {
    for (auto& each : recorded_.links.at(link)) {
      const auto is_extended = each.kind == kind::message && (each.detail & 16) != 0;
      if (each.from != end::dialer || !is_extended || nth-- > 0)
        continue;
      bytes head;
      for (const auto part : entry_head)
        head.push_back(static_cast<std::byte>(part));
      const auto at = std::ranges::search(each.body, head);
      if (at.empty())
        break;
      return std::span{each.body}.subspan(static_cast<std::size_t>(at.end() - each.body.begin()));
    }
    throw std::runtime_error("the recording has no such entry");
  }
  std::span<std::byte> identity_number(std::size_t link, std::size_t nth) {
    return value(link, nth, {7, 40}).subspan(16, 8);
  }
};

TEST_F(damaged_extension, a_repeated_request_with_another_number_is_handled_again) {
  identity_number(1, 0)[0] = std::byte{99};
  expect_failure("", "5 entries came instead of 4");
}

// Goal: the receiver forgets answers that the caller does not need any more.
TEST_F(damaged_extension, a_request_that_comes_again_after_it_was_settled_is_refused) {
  identity_number(1, 6)[0] = std::byte{1};
  expect_failure("signature=\"caf.error \"", "3 entries came instead of 4");
}

TEST_F(damaged_extension, a_message_of_another_trace_is_noticed) {
  value(1, 3, {3, 55})[3] = std::byte{'f'};
  expect_failure("extension[3].trace[0] is", "a context has another trace");
}

INSTANTIATE_TEST_SUITE_P(compat, frozen, testing::ValuesIn(names()), name_of);

} // namespace
} // namespace troupe::tests::compat
