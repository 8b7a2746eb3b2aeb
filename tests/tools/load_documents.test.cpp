// Goal: documents of `troupe bench` can be read again, merged and compared, and what cannot is refused by name.
#include "bench/diff/comparison.hpp"
#include "bench/load/load_document.hpp"
#include "bench/load/load_report.hpp"

#include "../bench/harness/well_formed.hpp"
#include "harness/plot.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <random>

namespace troupe::tools {

namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::SizeIs;

// --- documents of offered load

[[nodiscard]] load_round some_round(std::uint64_t seed) {
  std::mt19937_64 random{seed};
  load_round made;
  made.seconds = 10;
  for (auto i = 0; i < 1'000; ++i) {
    made.latency.add(100'000 + random() % 1'000'000);
    made.lateness.add(random() % 1'000);
  }
  made.scheduled = 1'003;
  made.sent = 1'001;
  made.answered = 1'000;
  made.failures["link_busy"].add(3.5, 2);
  made.failures["unanswered"].add(9);
  made.offered_per_second = 100.3;
  made.sent_per_second = 100.1;
  made.achieved_per_second = 100;
  made.held = 7;
  made.outstanding_most = 12;
  return made;
}

[[nodiscard]] load_document some_document(std::uint64_t seed = 1) {
  load_document made;
  made.machines = {{.cpu = "A <\"processor\">", .cores = 2, .build = "Release", .version = "0.1.0"}};
  made.began_ms = 1'000'000 + static_cast<std::int64_t>(seed);
  made.what = {.pattern = "echo",
               .addresses = {fmt::format("tcp://b:{}", seed)},
               .connections = 3,
               .family = "typed",
               .compression = "none",
               .data = "noise",
               .arrivals = "poisson",
               .rate = 100,
               .seconds = 10,
               .warm_up_seconds = 1,
               .outstanding_most = 1'000,
               .seed = seed,
               .sizes = {{64, 1}, {1'024, 0.25}}};
  for (std::uint64_t round = 0; round < 3; ++round)
    made.rounds.push_back(some_round(100 * seed + round));
  return made;
}

TEST(load_document, is_read_as_it_was_written) {
  const auto document = some_document();
  const auto text = json_of(document);
  const auto read = read_load_document(text, "a.json");
  ASSERT_TRUE(read) << read.error();
  EXPECT_EQ(json_of(*read), text);
  EXPECT_EQ(read->rounds[1].latency.hgrm(), document.rounds[1].latency.hgrm());
  EXPECT_EQ(read->rounds[1].latency.max(), document.rounds[1].latency.max());
  EXPECT_EQ(read->rounds[1].latency.min(), document.rounds[1].latency.min());
}

TEST(load_document, of_one_way_messages_has_no_latencies) {
  auto document = some_document();
  for (auto& each : document.rounds)
    each.latency = histogram{load_round::precision_bits};
  const auto text = json_of(document);
  EXPECT_FALSE(nlohmann::json::parse(text)["rounds"][0].contains("latency_us"));
  EXPECT_EQ(json_of(read_load_document(text, "a.json").value()), text);
}

TEST(load_document, that_is_another_one_is_refused_by_name) {
  const auto refusal_of = [](const std::string& text) { return read_load_document(text, "a.json").error(); };
  EXPECT_THAT(refusal_of(""), HasSubstr("a.json cannot be read: "));
  EXPECT_THAT(refusal_of("[1]"), HasSubstr("a.json is no document of troupe bench --to"));
  EXPECT_THAT(refusal_of(R"({"results": []})"), HasSubstr("a.json is no document of troupe bench --to"));
  EXPECT_THAT(refusal_of(R"({"kind": "load"})"), HasSubstr("machines"));
  auto document = nlohmann::json::parse(json_of(some_document()));
  document["rounds"][0]["latency_histogram"]["bits"] = 8;
  EXPECT_THAT(refusal_of(document.dump()), HasSubstr("its histograms do not have 11 bits"));
  document["rounds"][0]["latency_histogram"]["bits"] = "x";
  EXPECT_THAT(refusal_of(document.dump()), HasSubstr("a.json cannot be read: "));
}

TEST(load_document, of_several_sources_adds_up) {
  auto sum = some_document(1);
  const auto other = some_document(2);
  auto both = sum.rounds[0].latency;
  both.add(other.rounds[0].latency);
  ASSERT_TRUE(merge(sum, other));
  EXPECT_EQ(sum.rounds[0].latency.hgrm(), both.hgrm());
  EXPECT_EQ(sum.rounds[0].scheduled, 2'006u);
  EXPECT_EQ(sum.rounds[0].failures.at("link_busy").count, 4u);
  EXPECT_DOUBLE_EQ(sum.rounds[0].achieved_per_second, 200);
  EXPECT_DOUBLE_EQ(sum.what.rate, 200);
  EXPECT_EQ(sum.what.connections, 6u);
  EXPECT_THAT(sum.what.addresses, testing::ElementsAre("tcp://b:1", "tcp://b:2"));
  EXPECT_THAT(sum.machines, SizeIs(2));
}

TEST(load_document, of_another_load_is_not_merged) {
  const auto refusal_of = [](auto change) {
    auto sum = some_document(1);
    auto other = some_document(2);
    change(other);
    return merge(sum, other).error();
  };
  EXPECT_THAT(refusal_of([](auto& other) { other.what.family = "json"; }), HasSubstr("the family differs"));
  EXPECT_THAT(refusal_of([](auto& other) { other.what.pattern = "one-way"; }), HasSubstr("the pattern differs"));
  EXPECT_THAT(refusal_of([](auto& other) { other.what.sizes.pop_back(); }), HasSubstr("the sizes differ"));
  EXPECT_THAT(refusal_of([](auto& other) { other.what.seconds = 9; }), HasSubstr("the seconds differ"));
  EXPECT_THAT(refusal_of([](auto& other) { other.rounds.pop_back(); }), HasSubstr("the number of rounds differs"));
}

TEST(load_document, is_shown_as_text_hgrm_and_chart) {
  const auto document = some_document();
  EXPECT_THAT(text_of(document),
              AllOf(HasSubstr("echo typed 2 sizes, 64 B to 1 KiB, 100/s poisson, 3 connections, to tcp://b:1"),
                    HasSubstr("link_busy: 6 requests, intended 3.5 to 3.5 s"), HasSubstr("21 requests waited because"),
                    HasSubstr("p99.99 us")));
  EXPECT_THAT(hgrm_of(document),
              AllOf(HasSubstr("Percentile TotalCount 1/(1-Percentile)"), HasSubstr("Total count    =         3000]")));
  if (bench::can_draw()) {
    const auto svg = svg_of(document).value_or("");
    EXPECT_EQ(bench::tests::wrong_with(svg), "");
    EXPECT_THAT(svg, AllOf(HasSubstr(">99.9 %<"), HasSubstr(">answered<")));
  }
}

// --- comparing

[[nodiscard]] std::vector<double> noisy(double around, std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random{seed};
  std::vector<double> made;
  for (std::size_t i = 0; i < count; ++i) // Within 10 %.
    made.push_back(around * (0.95 + 0.1 * static_cast<double>(random() % 1'000) / 1'000));
  return made;
}

TEST(ratio_of_medians, is_exact_for_samples_without_noise) {
  const auto made = ratio_of_medians({100, 100, 100, 100}, {120, 120, 120}, 1);
  EXPECT_DOUBLE_EQ(made.ratio, 1.2);
  EXPECT_DOUBLE_EQ(made.low, 1.2);
  EXPECT_DOUBLE_EQ(made.high, 1.2);
}

TEST(ratio_of_medians, has_the_interval_of_a_known_sample) {
  // On paper: the median of three draws from {1, 2, 3} is 1 or 3 in 7 of 27 cases each, so both ends of 95 % are.
  const auto made = ratio_of_medians({1, 1, 1}, {1, 2, 3}, 1);
  EXPECT_DOUBLE_EQ(made.ratio, 2);
  EXPECT_DOUBLE_EQ(made.low, 1);
  EXPECT_DOUBLE_EQ(made.high, 3);
}

TEST(ratio_of_medians, is_the_same_for_the_same_seed) {
  const auto before = noisy(100, 20, 1);
  const auto after = noisy(100, 20, 2);
  const auto one = ratio_of_medians(before, after, 5);
  const auto same = ratio_of_medians(before, after, 5);
  EXPECT_EQ(one.low, same.low);
  EXPECT_EQ(one.high, same.high);
}

TEST(ratio_of_medians, contains_one_in_most_comparisons_of_a_program_with_itself) {
  auto shown = 0;
  constexpr auto pairs = 20;
  for (std::uint64_t i = 0; i < pairs; ++i) {
    const auto made = ratio_of_medians(noisy(100, 15, 2 * i), noisy(100, 15, 2 * i + 1), 1);
    shown += made.low > 1 || made.high < 1 ? 1 : 0;
  }
  EXPECT_LE(shown, 4) << "1 of 20 is expected";
}

[[nodiscard]] comparable document_with(std::vector<measured_values> values) {
  return {.file = "x.json", .processors = "A, 2 cores", .troupe = "0.1.0", .all = std::move(values)};
}

[[nodiscard]] comparison compared_or_fail(const comparable& before, const comparable& after) {
  auto made = compared(before, after, {});
  EXPECT_TRUE(made) << made.error();
  return made.value_or(comparison{});
}

TEST(comparison, shows_no_difference_of_a_program_to_itself) {
  const auto made =
      compared_or_fail(document_with({{"echo", "p99", noisy(100, 20, 1)}, {"echo", "rate", noisy(9, 20, 2)}}),
                       document_with({{"echo", "p99", noisy(100, 20, 3)}, {"echo", "rate", noisy(9, 20, 4)}}));
  ASSERT_THAT(made.all, SizeIs(2));
  for (const auto& each : made.all) {
    EXPECT_FALSE(each.is_slower()) << each.quantity;
    EXPECT_FALSE(each.is_faster()) << each.quantity;
  }
  EXPECT_THAT(text_of(made, {}), AllOf(HasSubstr("no difference shown"), HasSubstr("10000 resamples, seed 1")));
  EXPECT_TRUE(made.warnings.empty());
}

TEST(comparison, shows_what_is_20_per_cent_slower_whether_it_is_a_time_or_a_rate) {
  const auto older = document_with({{"echo", "p99", noisy(100, 20, 1)}, {"echo", "rate", noisy(120, 20, 2)}});
  const auto newer = document_with({{"echo", "p99", noisy(120, 20, 3)}, {"echo", "rate", noisy(100, 20, 4)}});
  for (const auto& each : compared_or_fail(older, newer).all) {
    EXPECT_TRUE(each.is_slower()) << each.quantity;
    EXPECT_TRUE(each.is_slower_by(0.05)) << each.quantity;
    EXPECT_FALSE(each.is_slower_by(0.3)) << each.quantity;
  }
  for (const auto& each : compared_or_fail(newer, older).all) {
    EXPECT_TRUE(each.is_faster()) << each.quantity;
    EXPECT_FALSE(each.is_slower()) << each.quantity;
  }
}

TEST(comparison, refuses_documents_of_different_measurements_and_names_what_is_missing) {
  const auto values = noisy(100, 20, 1);
  auto before = document_with({{"echo 8 B", "rate", values}, {"echo 1 KiB", "rate", values}});
  auto after = document_with({{"echo 8 B", "rate", values}, {"ring 8 B", "rate", values}});
  before.file = "old.json";
  after.file = "new.json";
  EXPECT_THAT(compared(before, after, {}).error(),
              AllOf(HasSubstr("new.json lacks \"echo 1 KiB\""), HasSubstr("old.json lacks \"ring 8 B\"")));
  after = document_with({{"echo 8 B", "rate", values}});
  after.failed = {"echo 1 KiB"};
  EXPECT_THAT(compared(before, after, {}).error(), HasSubstr("in x.json, \"echo 1 KiB\" failed"));
}

TEST(comparison, refuses_too_few_rounds_and_zeros_and_quantities_that_are_not_there) {
  const auto good = document_with({{"echo", "rate", noisy(100, 20, 1)}});
  EXPECT_THAT(compared(good, document_with({{"echo", "rate", {1, 2}}}), {}).error(),
              HasSubstr("x.json: rate of \"echo\" has 2 rounds, and at least 3 are needed (--rounds)"));
  EXPECT_THAT(compared(document_with({{"echo", "rate", {1, 0, 2}}}), good, {}).error(), HasSubstr("is 0 in a round"));
  EXPECT_THAT(compared(good, good, {.quantities = {"p99.9"}}).error(), HasSubstr("no measurement has p99.9"));
}

TEST(comparison, warns_of_other_processors_and_few_rounds) {
  const auto few = document_with({{"echo", "rate", noisy(100, 5, 1)}});
  auto other = few;
  other.processors = "B, 64 cores";
  other.is_optimized = false;
  const auto made = compared_or_fail(few, other);
  EXPECT_THAT(made.warnings,
              testing::ElementsAre(HasSubstr("the processors differ (A, 2 cores and B, 64 cores)"),
                                   HasSubstr("build that is not optimized"), HasSubstr("fewer than 10 rounds")));
}

TEST(comparison, takes_documents_of_both_kinds) {
  const auto load = read_comparable(json_of(some_document()), "load.json");
  ASSERT_TRUE(load) << load.error();
  EXPECT_THAT(load->all, SizeIs(7));
  EXPECT_EQ(load->all.front().quantity, "rate");
  EXPECT_THAT(load->all.front().values, SizeIs(3));
  const auto closed = read_comparable(R"({"machine": {"cpu": "A", "cores": 2, "build": "Release"}, "results": [
      {"pattern": "echo", "transport": "unix", "family": "typed", "compression": "none", "size_bytes": 8,
       "messages_per_second": {"median": 2, "values": [1, 2, 3]},
       "round_trip_us": {"p50": {"median": 5, "values": [4, 5, 6]}}},
      {"pattern": "ring", "transport": "tcp", "family": "typed", "compression": "none", "size_bytes": 8,
       "failure": "it failed"}]})",
                                      "closed.json");
  ASSERT_TRUE(closed) << closed.error();
  ASSERT_THAT(closed->all, SizeIs(2));
  EXPECT_EQ(closed->all[1].measurement, "echo unix typed 8 B");
  EXPECT_EQ(closed->all[1].quantity, "p50");
  EXPECT_THAT(closed->failed, testing::ElementsAre("ring tcp typed 8 B"));
  EXPECT_THAT(read_comparable("{}", "x.json").error(), HasSubstr("x.json is no document of troupe bench"));
  EXPECT_THAT(read_comparable("{", "x.json").error(), HasSubstr("x.json cannot be read: "));
}

} // namespace

} // namespace troupe::tools
