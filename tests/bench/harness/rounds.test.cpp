// The order in which subjects run, and the treatment of subjects that fail.
#include "harness/rounds.hpp"

#include <gtest/gtest.h>

namespace bench::tests {
namespace {

const quantity rate{"one-way", "msg/s"};

TEST(rounds, subjects_take_turns_after_a_round_that_does_not_count) {
  std::string order;
  const auto made = run_rounds(2, {"a", "b"}, [&](int round, const std::string& subject) {
    order += subject + std::to_string(round) + ' ';
    return observations{{rate, round == 0 ? 1000 : round}};
  });
  EXPECT_EQ(order, "a0 b0 a1 b1 a2 b2 ");
  EXPECT_EQ(find_row(made.values.rows({}), "one-way", "a")->max, 2);
}

TEST(rounds, one_that_fails_is_left_out_from_then_on_and_keeps_what_it_has) {
  std::string order;
  const auto made =
      run_rounds(3, {"a", "b"}, [&](int round, const std::string& subject) -> std::expected<observations, failure> {
        order += subject + std::to_string(round) + ' ';
        if (round == 2 && subject == "a")
          return std::unexpected{failure{.reason = "broken"}};
        return observations{{rate, 1}};
      });
  EXPECT_EQ(order, "a0 b0 a1 b1 a2 b2 b3 ");
  ASSERT_EQ(made.failures.size(), 1u);
  EXPECT_EQ(made.failures[0].first, "a");
  EXPECT_EQ(made.failures[0].second.reason, "broken");
  EXPECT_FALSE(made.is_stopped);
  EXPECT_NE(find_row(made.values.rows({}), "one-way", "a"), nullptr);
}

TEST(rounds, a_stop_ends_all_at_once) {
  int runs = 0;
  const auto made = run_rounds(3, {"a", "b"}, [&](int, const std::string&) -> std::expected<observations, failure> {
    ++runs;
    return std::unexpected{failure{.is_stop = true, .reason = "stopped"}};
  });
  EXPECT_EQ(runs, 1);
  EXPECT_TRUE(made.is_stopped);
}

TEST(rounds, what_was_reached_before_a_stop_counts) {
  const auto made =
      run_rounds(3, {"a", "b"}, [&](int round, const std::string& subject) -> std::expected<observations, failure> {
        if (round == 2 && subject == "b")
          return std::unexpected{failure{.is_stop = true, .reason = "stopped"}};
        return observations{{rate, round}};
      });
  EXPECT_TRUE(made.is_stopped);
  EXPECT_EQ(made.rounds, 1);
  const auto rows = made.values.rows({});
  EXPECT_EQ(find_row(rows, "one-way", "a")->rounds, 2u);
  EXPECT_EQ(find_row(rows, "one-way", "b")->rounds, 1u);
}

TEST(rounds, no_other_begins_when_time_is_up_but_the_first_always_does) {
  std::string order;
  const auto made = run_rounds(
      3, {"a", "b"},
      [&](int round, const std::string& subject) {
        order += subject + std::to_string(round) + ' ';
        return observations{{rate, 1}};
      },
      0.0);
  EXPECT_EQ(order, "a0 b0 a1 b1 ");
  EXPECT_EQ(made.rounds, 1);
  EXPECT_FALSE(made.is_stopped);
}

} // namespace
} // namespace bench::tests
