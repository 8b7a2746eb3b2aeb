// The handle protocol under random schedules, failures and lies.
//
//   TROUPE_SEED=17 framework_handles_test --gtest_filter='simulator.*'    one seed, with the story of its failure
//   TROUPE_STORY=1                                                        that story even if nothing fails
//   TROUPE_LONG_TESTS=1                                                   many more seeds
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "last_words.hpp"
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

void expect_whole(const run_plan& plan, const std::vector<step_choice>& steps, run_report& report) {
  bool is_told = wanted_seed() && std::getenv("TROUPE_STORY") != nullptr;
  if (auto failure = replay(plan, steps, &report, is_told ? &std::cout : nullptr))
    FAIL() << story_of(plan, shrink(plan, *std::move(failure)));
}

class simulator : public testing::Test {
protected:
  static void SetUpTestSuite() { tell_last_words(); }
};

/// Runs seeds until the time is over. Fails with the story of the first run that breaks.
void run_seeds(std::uint64_t first, std::size_t steps, std::chrono::seconds how_long) {
  run_report report;
  if (auto seed = wanted_seed())
    return expect_whole({*seed, steps}, steps_of({*seed, steps}), report);
  auto started = std::chrono::steady_clock::now();
  auto seed = first;
  while (std::chrono::steady_clock::now() - started < how_long && !testing::Test::HasFatalFailure()) {
    run_plan plan{seed++, steps};
    expect_whole(plan, steps_of(plan), report);
  }
  auto seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  std::cout << "seeds " << first << " to " << seed - 1 << ", " << report.steps << " steps, "
            << static_cast<std::uint64_t>(static_cast<double>(report.steps) / seconds) << " a second; "
            << report.answers << " answers, " << report.losses << " of them losses; " << report.adoptions
            << " adoptions, " << report.reclaims << " reclaims, " << report.finds << " replicas of others found, "
            << report.came_round << " handles that came round, " << report.came_home << " that came home, "
            << report.handed_over << " handed over by links; " << report.put_unfinished
            << " put before all that they capture was there, finished " << report.finished << " times\n";
}

TEST_F(simulator, short_runs_leave_nothing_and_lose_nothing) {
  run_seeds(1, 150, std::chrono::seconds(long_tests() ? 600 : 12));
}

TEST_F(simulator, long_runs_leave_nothing_and_lose_nothing) {
  run_seeds(1'000'000'000, 2000, std::chrono::seconds(long_tests() ? 1200 : 14));
}

// Goal: a node may die or freeze at any step of the protocol.
// Method: repeats the same run; each time another node is killed (at once or after some of its next actions) or frozen
// before another step.
TEST_F(simulator, a_node_may_die_or_freeze_before_any_step) {
  run_report report;
  auto started = std::chrono::steady_clock::now();
  auto wanted = wanted_seed();
  auto goes_on = [&] {
    return wanted ? report.steps == 0 : std::chrono::steady_clock::now() - started < std::chrono::seconds(5);
  };
  for (auto seed = wanted.value_or(2'000'000'005); goes_on(); seed += 10) { // Calm runs: only inserted faults occur.
    run_plan plan{seed, 100};
    auto steps = steps_of(plan);
    for (std::size_t at = 0; at < steps.size(); ++at) {
      using enum step_choice::kind;
      for (auto [fate, actions] :
           {std::pair{kill, 0u}, {freeze, 0u}, {kill_within, 1u}, {kill_within, 2u}, {kill_within, 5u}}) {
        for (std::uint32_t which = 0; which < 4; ++which) {
          auto changed = steps;
          changed.insert(changed.begin() + static_cast<std::ptrdiff_t>(at), step_choice{fate, which, actions, 0});
          expect_whole(plan, changed, report);
          if (HasFatalFailure())
            return;
        }
      }
    }
  }
  std::cout << report.steps << " steps\n";
}

TEST_F(simulator, a_seed_gives_the_same_run_each_time) {
  for (std::uint64_t seed : {7, 9, 10, 17}) { // Failures; a liar; neither of them; small limits.
    run_plan plan{seed, 2000};
    std::string stories[2];
    for (auto& each : stories) {
      std::ostringstream out;
      EXPECT_FALSE(replay(plan, steps_of(plan), nullptr, &out));
      each = std::move(out).str();
    }
    EXPECT_GT(stories[0].size(), 50'000u); // The story contains each message, answer and fault.
    EXPECT_TRUE(stories[0] == stories[1]);
  }
}

// -- failures that the simulator did not throw itself are reported as well

TEST_F(simulator, shrinks_what_ends_with_an_exception_of_another_kind) {
  run_plan plan{7, 400, sabotage::throw_in_puts};
  auto failure = replay(plan, steps_of(plan));
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->what, "what the ledger must not throw");
  EXPECT_EQ(shrink(plan, *std::move(failure)).steps.size(), 1u);
}

TEST_F(simulator, says_how_to_repeat_a_run_that_the_process_died_of) {
  run_plan plan{7, 400, sabotage::abort_in_puts};
  EXPECT_EXIT((void)replay(plan, steps_of(plan)), testing::KilledBySignal(SIGABRT), "TROUPE_SEED=7.*\n.*put");
}

// -- the simulator can fail: it detects each of five ways to break the protocol

class sabotage_test : public testing::TestWithParam<sabotage> {};

[[nodiscard]] std::optional<run_failure> first_failure(std::uint64_t first, std::size_t runs, run_plan& plan) {
  for (plan.seed = first; plan.seed < first + runs; ++plan.seed)
    if (auto failure = replay(plan, steps_of(plan)))
      return failure;
  return std::nullopt;
}

TEST_P(sabotage_test, is_noticed_in_each_of_many_small_parts_of_a_normal_run) {
  for (std::uint64_t part = 1; part <= 20; ++part) {
    run_plan plan{0, 1000, GetParam()};
    EXPECT_TRUE(first_failure(part * 1000, 300, plan)) << "not in 300 runs of 1,000 steps from seed " << part * 1000;
  }
}

TEST_P(sabotage_test, is_shrunk_to_a_short_story) {
  run_plan plan{0, 400, GetParam()};
  auto failure = first_failure(1, 2000, plan);
  ASSERT_TRUE(failure);
  auto shortest = shrink(plan, *std::move(failure));
  std::cout << story_of(plan, shortest);
  EXPECT_LT(shortest.steps.size(), 40u);
  EXPECT_TRUE(replay(plan, shortest.steps)); // The story can be replayed.
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
  case sabotage::throw_in_puts:
  case sabotage::abort_in_puts:
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
