// Goal: offered load is measured as it is on paper. Method: the generator that ships, against simulated servers with a
// simulated clock.
#include "bench/load/knee.hpp"
#include "bench/load/open_loop.hpp"
#include "bench/load/schedule.hpp"
#include "bench/load/size_mix.hpp"
#include "bench/load/stall.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <map>
#include <random>

namespace troupe::tools {

namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;
using testing::ElementsAre;
using testing::HasSubstr;

[[nodiscard]] double milliseconds_of(std::uint64_t ns) {
  return static_cast<double>(ns) / 1e6;
}

// --- schedules

TEST(load_schedule, uniform_arrivals_have_equal_gaps_that_do_not_drift) {
  schedule uniform{arrivals::uniform, 3, 1};
  for (std::int64_t i = 0; i < 30'000; ++i) {
    const auto at = uniform.next().count();
    ASSERT_NEAR(static_cast<double>(at), static_cast<double>(i) * 1e9 / 3, 1) << i;
  }
}

TEST(load_schedule, poisson_arrivals_have_exponential_gaps_of_the_asked_mean) {
  schedule poisson{arrivals::poisson, 1'000, 7};
  nanoseconds before{0};
  double sum = 0;
  double squares = 0;
  auto longer_than_the_mean = 0;
  constexpr auto count = 100'000;
  for (auto i = 0; i < count; ++i) {
    const auto at = poisson.next();
    ASSERT_GE(at, before);
    const auto gap_ms = std::chrono::duration<double, std::milli>(at - before).count();
    sum += gap_ms;
    squares += gap_ms * gap_ms;
    longer_than_the_mean += gap_ms > 1 ? 1 : 0;
    before = at;
  }
  const auto mean = sum / count;
  EXPECT_NEAR(mean, 1, 0.01);
  EXPECT_NEAR(std::sqrt(squares / count - mean * mean), 1, 0.02) << "the deviation of this distribution is its mean";
  EXPECT_NEAR(static_cast<double>(longer_than_the_mean) / count, std::exp(-1), 0.005);
}

TEST(load_schedule, is_the_same_for_the_same_seed_only) {
  schedule one{arrivals::poisson, 50, 3};
  schedule same{arrivals::poisson, 50, 3};
  schedule other{arrivals::poisson, 50, 4};
  auto differ = 0;
  for (auto i = 0; i < 100; ++i) {
    const auto at = one.next();
    EXPECT_EQ(at, same.next());
    differ += at == other.next() ? 0 : 1;
  }
  EXPECT_GT(differ, 90);
}

TEST(load_schedule, rates_and_times_are_written_with_units) {
  EXPECT_EQ(read_rate("500"), 500);
  EXPECT_EQ(read_rate("2.5k"), 2'500);
  EXPECT_EQ(read_rate("1M"), 1e6);
  for (const auto* text : {"", "k", "-5", "1G", "1 k", "0", "nan", "inf", "1e3", "1M5"})
    EXPECT_FALSE(read_rate(text)) << text;
  EXPECT_THAT(read_rate("5q").error(), HasSubstr("\"5q\" is no rate; write it as 500, 2.5k or 1M"));
  EXPECT_THAT(read_rate("200M").error(), HasSubstr("rates go from 0.1 to 100M"));
  EXPECT_EQ(read_time("1.5s"), nanoseconds{1'500ms});
  EXPECT_EQ(read_time("20us"), nanoseconds{20us});
  for (const auto* text : {"", "5", "-1s", "1h", "s", "1e9s"})
    EXPECT_FALSE(read_time(text)) << text;
}

TEST(load_stall, is_read_and_pauses_at_the_begin_of_each_period) {
  const auto read = stall::read("100ms/1s").value();
  EXPECT_EQ(read.wait_at(0ns), 100ms);
  EXPECT_EQ(read.wait_at(2s + 30ms), 70ms);
  EXPECT_EQ(read.wait_at(100ms), 0ns);
  EXPECT_EQ(read.wait_at(999ms), 0ns);
  EXPECT_EQ(stall{}.wait_at(12s), 0ns);
  for (const auto* text : {"", "100ms", "1s/1s", "2s/1s", "1s/", "/1s", "61s/100s"})
    EXPECT_FALSE(stall::read(text)) << text;
  EXPECT_THAT(stall::read("5").error(), HasSubstr("\"5\" is no stall; write it as 100ms/1s"));
}

// --- sizes

TEST(load_sizes, are_chosen_as_often_as_their_weights_say) {
  const auto mix = size_mix::read("# a mix\n64 90\n1Ki 9.5 # some\n\n1Mi 0.5\n", "mix").value();
  std::map<std::size_t, int> chosen;
  std::mt19937_64 random{1};
  constexpr auto count = 100'000;
  for (auto i = 0; i < count; ++i)
    ++chosen[mix.all()[mix.choose(std::ldexp(static_cast<double>(random() >> 11), -53))].bytes];
  EXPECT_NEAR(chosen[64], 90'000, 500);
  EXPECT_NEAR(chosen[1'024], 9'500, 500);
  EXPECT_NEAR(chosen[1'048'576], 500, 100);
  EXPECT_EQ(mix.choose(0), 0u);
  EXPECT_EQ(mix.choose(std::nextafter(1, 0)), 2u);
  EXPECT_EQ(mix.text(), "3 sizes, 64 B to 1 MiB");
}

TEST(load_sizes, errors_name_file_and_line) {
  std::string many_megabytes;
  for (auto bytes = 67'108'864; bytes > 67'108'844; --bytes)
    many_megabytes += std::to_string(bytes) + '\n';
  const std::pair<const char*, const char*> wrong[] = {
      {"64 1\n1Q 2\n", "mix:2: \"1Q\" is no size; write it as 8, 64B, 1Ki"},
      {"64 0", "mix:1: \"0\" is no weight: a number above 0"},
      {"64 -1", "mix:1: \"-1\" is no weight"},
      {"64 nan", "mix:1: \"nan\" is no weight"},
      {"\n\n64 1 2", "mix:3: \"2\" follows the weight; a line is SIZE WEIGHT"},
      {"4 1", "mix:1: a payload of 4 bytes cannot be offered: sizes go from 8 B to 64 MiB"},
      {"1Gi", "mix:1: a payload of 1073741824 bytes cannot be offered"},
      {"64 1\n64B 2", "mix:2: 64 B has a line already"},
      {many_megabytes.c_str(), "mix:17: the sizes up to here are more than 1 GiB together"},
      {"# nothing\n", "mix has no sizes"},
      {"", "mix has no sizes"}};
  for (const auto& [text, why] : wrong) {
    const auto read = size_mix::read(text, "mix");
    ASSERT_FALSE(read) << text;
    EXPECT_THAT(read.error(), HasSubstr(why));
  }
  EXPECT_EQ(size_mix::read("64\n", "mix").value().all(), (std::vector<weighted_size>{{64, 1}}));
}

// --- the open loop against simulated servers

/// Answers one request after the other.
struct simulated_server {
  stall stalls = {};
  nanoseconds service = 10us;
  nanoseconds free_at{0};

  nanoseconds answer_to(nanoseconds arrival) {
    auto begin = std::max(arrival, free_at);
    begin += stalls.wait_at(begin);
    free_at = begin + service;
    return free_at;
  }
};

constexpr stall tenth_of_each_second{100ms, 1s};

/// Runs the generator with a clock that jumps to the next thing that happens. `generator_stall` pauses the generator.
load_round simulated(const load_plan& plan, simulated_server server, const stall& generator_stall = {}) {
  open_loop loop{plan};
  std::deque<std::pair<nanoseconds, load_request>> under_way;
  constexpr nanoseconds never{std::numeric_limits<std::int64_t>::max()};
  const auto measured_until = plan.warm_up + plan.measured;
  const auto given_up = measured_until + plan.patience;
  for (nanoseconds now{0};;) {
    for (; !under_way.empty() && under_way.front().first <= now; under_way.pop_front())
      loop.answered(under_way.front().second, now);
    while (const auto due = loop.next_due(now))
      under_way.emplace_back(server.answer_to(now), *due);
    if (loop.is_over(now))
      return loop.end(now);
    const auto next = std::min({loop.wakes_at().value_or(never), under_way.empty() ? never : under_way.front().first,
                                now < measured_until ? measured_until : given_up});
    now = std::max(now, next);
    now += generator_stall.wait_at(now);
  }
}

[[nodiscard]] load_plan plan_of(double rate, arrivals how = arrivals::uniform) {
  return {.how = how, .rate = rate, .warm_up = 1s, .measured = 20s, .patience = 5s};
}

[[nodiscard]] double latency_ms(const load_round& round, double percent) {
  return milliseconds_of(round.latency.percentile(percent));
}

void expect_sums_to_hold(const load_round& round) {
  EXPECT_EQ(round.scheduled, round.answered + round.failed());
  EXPECT_EQ(round.latency.count(), round.answered);
}

// On paper: a tenth of the requests comes in a pause of 100 ms, evenly over it, and waits for its end. So 1 % of all
// wait for more than 90 ms, and 1 of 1,000 for more than 99 ms. The requests that came in the pause are answered within
// 10 us each after it.
TEST(open_loop, shows_a_pause_of_the_server_as_it_is_on_paper) {
  const auto round = simulated(plan_of(1'000), {.stalls = tenth_of_each_second});
  expect_sums_to_hold(round);
  EXPECT_EQ(round.scheduled, 20'000u);
  EXPECT_NEAR(latency_ms(round, 50), 0.01, 0.001);
  EXPECT_LT(latency_ms(round, 89), 0.1);
  EXPECT_NEAR(latency_ms(round, 95), 50, 1.5);
  EXPECT_NEAR(latency_ms(round, 99), 90, 1.5);
  EXPECT_NEAR(latency_ms(round, 99.9), 99, 1.5);
  EXPECT_NEAR(latency_ms(round, 100), 100, 1);
  EXPECT_EQ(round.lateness.max(), 0u) << "the generator itself is never late in a simulation";
  EXPECT_EQ(limit_of_generator(round), "");
  EXPECT_TRUE(keeps_up(round));
}

TEST(open_loop, shows_it_also_with_poisson_arrivals) {
  const auto round = simulated(plan_of(1'000, arrivals::poisson), {.stalls = tenth_of_each_second});
  expect_sums_to_hold(round);
  EXPECT_NEAR(static_cast<double>(round.scheduled), 20'000, 600);
  EXPECT_LT(latency_ms(round, 85), 0.1);
  EXPECT_NEAR(latency_ms(round, 99), 90, 4);
  EXPECT_NEAR(latency_ms(round, 99.9), 99, 2);
}

// The same server and the same rate, but each request is sent after the answer to the one before. In each pause, one
// request waits, where 100 should have come.
TEST(open_loop, shows_what_a_closed_loop_hides) {
  simulated_server server{.stalls = tenth_of_each_second};
  histogram closed{load_round::precision_bits};
  for (nanoseconds now{0}; now < 20s;) {
    const auto answered_at = server.answer_to(now);
    closed.add(static_cast<std::uint64_t>((answered_at - now).count()));
    now = std::max(answered_at, now + 1ms);
  }
  EXPECT_LT(milliseconds_of(closed.percentile(99)), 0.1);
  EXPECT_GT(latency_ms(simulated(plan_of(1'000), {.stalls = tenth_of_each_second}), 99), 85);
}

TEST(open_loop, sends_all_that_is_overdue_at_once_and_says_how_late_it_was) {
  const auto round = simulated(plan_of(1'000), {}, stall{50ms, 1s});
  expect_sums_to_hold(round);
  EXPECT_EQ(round.scheduled, 20'000u) << "none is skipped";
  EXPECT_EQ(round.sent, 20'000u);
  EXPECT_EQ(round.failed(), 0u);
  EXPECT_NEAR(milliseconds_of(round.lateness.percentile(99)), 40, 1.5) << "5 % come in the pause, evenly";
  EXPECT_NEAR(milliseconds_of(round.lateness.max()), 50, 0.5);
  EXPECT_GE(round.latency.percentile(99), round.lateness.percentile(99)) << "latency counts from the intended start";
  EXPECT_THAT(limit_of_generator(round), HasSubstr("more than 40.0 ms after their intended start"));
}

TEST(open_loop, says_that_it_does_not_reach_the_rate) {
  load_round slow;
  slow.seconds = 10;
  slow.offered_per_second = 1'000;
  slow.sent_per_second = 989;
  EXPECT_EQ(limit_of_generator(slow), "it sent only 989.0 of 1000.0 requests per second in time");
  slow.sent_per_second = 991;
  EXPECT_EQ(limit_of_generator(slow), "");
  slow.sent_per_second = 500;
  slow.held = 1;
  EXPECT_EQ(limit_of_generator(slow), "") << "the peer's answers were awaited";
}

TEST(open_loop, measures_from_the_intended_start_also_what_waits_at_the_bound) {
  auto plan = plan_of(1'000);
  plan.outstanding_most = 10;
  const auto round = simulated(plan, {.stalls = tenth_of_each_second});
  expect_sums_to_hold(round);
  EXPECT_EQ(round.outstanding_most, 10u);
  EXPECT_EQ(round.sent, 20'000u);
  EXPECT_NEAR(static_cast<double>(round.held), 20 * 90, 30) << "in each pause, 10 are sent and the others wait";
  EXPECT_NEAR(latency_ms(round, 99), 90, 1.5);
  EXPECT_EQ(round.lateness.max(), 0u) << "waiting at the bound is not the generator's delay";
  EXPECT_EQ(limit_of_generator(round), "");
}

TEST(open_loop, achieves_what_the_server_can_do_and_names_what_is_left) {
  auto plan = plan_of(2'000);
  plan.patience = 5s;
  const auto round = simulated(plan, {.service = 1ms});
  expect_sums_to_hold(round);
  EXPECT_EQ(round.scheduled, 40'000u);
  EXPECT_NEAR(round.achieved_per_second, 1'000, 2);
  EXPECT_NEAR(round.sent_per_second, 2'000, 2);
  EXPECT_FALSE(keeps_up(round));
  ASSERT_TRUE(round.failures.contains("unanswered"));
  // Of 42,000 requests with those of the warm-up, 26,000 are answered in 26 s.
  EXPECT_NEAR(static_cast<double>(round.failures.at("unanswered").count), 16'000, 10);
  EXPECT_NEAR(round.failures.at("unanswered").first_seconds, 12, 0.1);
  EXPECT_NEAR(round.failures.at("unanswered").last_seconds, 20, 0.1);
}

TEST(open_loop, counts_failures_by_name_with_their_intended_times) {
  auto plan = plan_of(10);
  open_loop loop{plan};
  auto sent = 0;
  for (nanoseconds now{0}; !loop.is_over(now); now += 100ms)
    while (const auto due = loop.next_due(now)) {
      if (++sent % 2 == 0)
        loop.failed(*due, now, sent % 4 == 0 ? "link_busy" : "link_down");
      else
        loop.answered(*due, now + 1ms);
    }
  const auto round = loop.end(26s);
  expect_sums_to_hold(round);
  EXPECT_EQ(round.scheduled, 200u);
  EXPECT_EQ(round.failures.at("link_busy").count, 50u);
  EXPECT_EQ(round.failures.at("link_down").count, 50u);
  EXPECT_NEAR(round.failures.at("link_busy").first_seconds, 0.1, 1e-9);
  EXPECT_NEAR(round.failures.at("link_busy").last_seconds, 19.7, 1e-9);
}

TEST(open_loop, that_is_ended_early_counts_what_was_due_until_then) {
  auto plan = plan_of(1'000);
  plan.outstanding_most = 100;
  open_loop loop{plan};
  while (loop.next_due(3s))
    continue;
  const auto round = loop.end(3s);
  expect_sums_to_hold(round);
  EXPECT_DOUBLE_EQ(round.seconds, 2);
  EXPECT_EQ(round.scheduled, 2'000u);
  EXPECT_EQ(round.failures.at("not_sent").count, 2'000u) << "the warm-up has filled the bound";
  EXPECT_NEAR(round.offered_per_second, 1'000, 1);
}

TEST(open_loop, that_is_ended_in_its_warm_up_has_measured_nothing) {
  open_loop loop{plan_of(1'000)};
  EXPECT_TRUE(loop.next_due(500ms));
  const auto round = loop.end(500ms);
  EXPECT_EQ(round.scheduled, 0u);
  EXPECT_EQ(round.seconds, 0);
  EXPECT_EQ(round.offered_per_second, 0);
}

TEST(open_loop, rounds_add_up_in_parallel_and_one_after_the_other) {
  auto one = simulated(plan_of(1'000), {.stalls = tenth_of_each_second});
  const auto other = simulated(plan_of(500), {});
  const auto in_turn = together({one, other});
  EXPECT_DOUBLE_EQ(in_turn.seconds, 40);
  EXPECT_DOUBLE_EQ(in_turn.offered_per_second, 750);
  EXPECT_EQ(in_turn.scheduled, 30'000u);
  add_parallel(one, other);
  EXPECT_DOUBLE_EQ(one.seconds, 20);
  EXPECT_DOUBLE_EQ(one.offered_per_second, 1'500);
  EXPECT_EQ(one.scheduled, 30'000u);
  EXPECT_EQ(one.latency.hgrm(), in_turn.latency.hgrm());
  // On paper: 1 of 15 requests comes in a pause, so 1 % wait for more than 85 ms.
  EXPECT_NEAR(latency_ms(one, 99), 85, 1.5);
}

// --- the search

TEST(knee_search, doubles_and_bisects) {
  knee_search search{100, 1, 1e6};
  std::vector<int> tried;
  while (const auto rate = search.next()) {
    tried.push_back(static_cast<int>(std::lround(*rate)));
    search.take(*rate <= 700);
  }
  EXPECT_THAT(tried, ElementsAre(100, 200, 400, 800, 566, 673, 734, 703));
  EXPECT_LE(*search.last_good(), 700);
  EXPECT_GT(*search.first_bad(), 700);
  EXPECT_LE(*search.first_bad() / *search.last_good(), 1 + knee_search::precision);
}

TEST(knee_search, goes_down_from_a_rate_that_is_too_high) {
  knee_search search{1'000, 1, 1e6};
  while (const auto rate = search.next())
    search.take(*rate <= 30);
  EXPECT_LE(*search.last_good(), 30);
  EXPECT_GT(*search.first_bad(), 30);
}

TEST(knee_search, ends_if_every_rate_is_sustained_or_none) {
  knee_search all{1'000, 1, 5'000};
  while (all.next())
    all.take(true);
  EXPECT_EQ(all.last_good(), 5'000);
  EXPECT_FALSE(all.first_bad());
  knee_search none{1'000, 10, 5'000};
  while (none.next())
    none.take(false);
  EXPECT_FALSE(none.last_good());
  EXPECT_EQ(none.first_bad(), 10);
}

TEST(knee_search, finds_what_a_server_can_do) {
  knee_search search{100, 1, 1e6};
  while (const auto rate = search.next()) {
    auto plan = plan_of(*rate);
    plan.measured = 3s;
    const auto round = simulated(plan, {.service = 1ms});
    search.take(keeps_up(round) && latency_ms(round, 99) < 10);
  }
  EXPECT_NEAR(*search.last_good(), 1'000, 60);
}

} // namespace

} // namespace troupe::tools
