// The handle protocol under random schedules, failures and lies.
//
//   TROUPE_SEED=17 framework_handles_test --gtest_filter='simulator.*'    one seed, with the story of its failure
//   TROUPE_LONG_TESTS=1                                                   many more seeds
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <string>

#include "run.hpp"

namespace troupe::simulation {

namespace {

[[nodiscard]] std::optional<std::uint64_t> wanted_seed() {
  const auto* text = std::getenv("TROUPE_SEED");
  if (text == nullptr)
    return std::nullopt;
  return std::strtoull(text, nullptr, 10);
}

[[nodiscard]] bool long_tests() {
  const auto* text = std::getenv("TROUPE_LONG_TESTS");
  return text != nullptr && text[0] == '1';
}

void expect_whole(const run_plan& plan, run_report& report) {
  if (auto failure = replay(plan, steps_of(plan), &report))
    FAIL() << story_of(plan, shrink(plan, *std::move(failure)));
}

/// Runs seeds until the time is over; fails with the story of the first that breaks.
void run_seeds(std::uint64_t first, std::size_t steps, std::chrono::seconds how_long) {
  run_report report;
  if (auto seed = wanted_seed())
    return expect_whole({*seed, steps}, report);
  auto started = std::chrono::steady_clock::now();
  auto seed = first;
  while (std::chrono::steady_clock::now() - started < how_long && !testing::Test::HasFatalFailure())
    expect_whole({seed++, steps}, report);
  auto seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  std::cout << "seeds " << first << " to " << seed - 1 << ", " << report.steps << " steps, "
            << static_cast<std::uint64_t>(static_cast<double>(report.steps) / seconds) << " a second; "
            << report.answers << " answers, " << report.losses << " of them losses; " << report.adoptions
            << " adoptions, " << report.reclaims << " reclaims\n";
}

TEST(simulator, short_runs_leave_nothing_and_lose_nothing) {
  run_seeds(1, 150, std::chrono::seconds(long_tests() ? 600 : 15));
}

TEST(simulator, long_runs_leave_nothing_and_lose_nothing) {
  run_seeds(1'000'000'000, 2000, std::chrono::seconds(long_tests() ? 1200 : 20));
}

TEST(simulator, a_seed_gives_the_same_run_each_time) {
  run_report first;
  run_report second;
  EXPECT_FALSE(replay({7, 500}, steps_of({7, 500}), &first));
  EXPECT_FALSE(replay({7, 500}, steps_of({7, 500}), &second));
  EXPECT_EQ(first.answers, second.answers);
  EXPECT_EQ(first.adoptions, second.adoptions);
  EXPECT_EQ(first.losses, second.losses);
}

// -- The simulator can fail: five ways to break the protocol, and it sees each.

class sabotage_test : public testing::TestWithParam<sabotage> {};

TEST_P(sabotage_test, is_noticed_and_shrunk_to_a_short_story) {
  for (std::uint64_t seed = 1; seed < 200; ++seed) {
    run_plan plan{seed, 400, GetParam()};
    auto failure = replay(plan, steps_of(plan));
    if (!failure)
      continue;
    auto shortest = shrink(plan, *std::move(failure));
    std::cout << story_of(plan, shortest);
    EXPECT_LT(shortest.steps.size(), 40u);
    EXPECT_TRUE(replay(plan, shortest.steps)); // The story can be told again.
    return;
  }
  FAIL() << "not noticed in 200 runs";
}

std::string name_of(const testing::TestParamInfo<sabotage>& info) {
  switch (info.param) {
  case sabotage::forget_count:
    return "forgetting_a_count";
  case sabotage::release_twice:
    return "releasing_twice";
  case sabotage::skip_adoption:
    return "skipping_the_adoption";
  case sabotage::ignore_generation:
    return "ignoring_generations";
  case sabotage::drop_hold_early:
    return "dropping_a_hold_early";
  case sabotage::none:
    break;
  }
  return "none";
}

INSTANTIATE_TEST_SUITE_P(each, sabotage_test,
                         testing::Values(sabotage::forget_count, sabotage::release_twice, sabotage::skip_adoption,
                                         sabotage::ignore_generation, sabotage::drop_hold_early),
                         name_of);

} // namespace

} // namespace troupe::simulation
