// Tests what `troupe bench` plans, refuses, sends and shows, without any process.
#include "bench/payload.hpp"
#include "bench/report.hpp"
#include "bench/request.hpp"
#include "bench/workspace.hpp"

#include "../bench/harness/well_formed.hpp"
#include "harness/plot.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace troupe::tools {

namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

constexpr std::size_t kib = 1024;

TEST(bench_request, sizes_are_written_in_powers_of_1024) {
  EXPECT_EQ(read_size("8"), 8u);
  EXPECT_EQ(read_size("64B"), 64u);
  for (const auto* text : {"1K", "1k", "1Ki", "1KiB", "1kb"})
    EXPECT_EQ(read_size(text), kib) << text;
  EXPECT_EQ(read_size("2Mi"), 2 * kib * kib);
  EXPECT_EQ(read_size("1GiB"), kib * kib * kib);
  for (const auto* text : {"", "Ki", "-1", "1.5Mi", "1 Ki", "1X", "1iB", "99999999999999999999"})
    EXPECT_FALSE(read_size(text)) << text;
  EXPECT_THAT(read_size("1X").error(), HasSubstr("\"1X\" is no size; write it as 8, 64B, 1Ki, 64KiB, 1Mi or 1Gi"));
}

TEST(bench_request, a_range_of_sizes_has_each_eightfold_and_its_end) {
  EXPECT_THAT(read_sizes("8..1Ki").value(), ElementsAre(8, 64, 512, 1024));
  EXPECT_THAT(read_sizes("8..1Gi").value(), SizeIs(10));
  EXPECT_THAT(read_sizes("8..8").value(), ElementsAre(8));
  EXPECT_THAT(read_sizes("64..8").error(), HasSubstr("64 B is more than 8 B"));
  EXPECT_THAT(read_sizes("4").error(), HasSubstr("4 bytes cannot be measured: sizes go from 8 B to 1 GiB"));
  EXPECT_THAT(read_sizes("8..2Gi").error(), HasSubstr("2147483648 bytes"));
}

TEST(bench_request, the_plan_has_each_combination_once) {
  bench_request asked;
  asked.sizes = {"8", "8", "8..64"};
  asked.families = {"typed", "json"};
  asked.transports = {"unix", "inproc"};
  const auto plan = plan_of(asked).value();
  std::vector<std::string> labels;
  for (const auto& each : plan)
    labels.push_back(label_of(each));
  EXPECT_THAT(labels, ElementsAre("one-way unix typed 8 B", "one-way unix typed 64 B", "one-way unix json 8 B",
                                  "one-way unix json 64 B", "one-way inproc 8 B", "one-way inproc 64 B",
                                  "echo unix typed 8 B", "echo unix typed 64 B", "echo unix json 8 B",
                                  "echo unix json 64 B", "echo inproc 8 B", "echo inproc 64 B"))
      << "within a process nothing is encoded";
}

TEST(bench_request, a_total_shortens_measurements_or_says_that_it_cannot) {
  bench_request asked;
  asked.total_seconds = 10;
  ASSERT_TRUE(fit_into_total(asked, 8));
  EXPECT_LT(asked.seconds, 0.4);
  EXPECT_NEAR(expected_seconds(asked, 8), 10, 0.1);
  EXPECT_THAT(fit_into_total(asked, 1'000).error(), HasSubstr("5 rounds of 1000 measurements"));
}

TEST(bench_measurement, processes_are_told_all_of_it) {
  measurement what{.how = pattern::fan_in,
                   .transport = "tls",
                   .family = "json",
                   .compression = "zstd",
                   .size_bytes = 77,
                   .peers = 9,
                   .in_flight = 3,
                   .spill_bytes = 5,
                   .data = "records",
                   .store = "s",
                   .folder = "/tmp/a folder"};
  const auto told = measurement_of(text_of(what)).value();
  EXPECT_EQ(text_of(told), text_of(what));
  EXPECT_EQ(told.folder, what.folder);
  what.store.clear();
  EXPECT_EQ(measurement_of(text_of(what)).value().store, "");
  EXPECT_FALSE(measurement_of("nonsense"));
  EXPECT_FALSE(measurement_of(""));
}

TEST(bench_measurement, what_does_not_fit_is_refused_with_numbers) {
  measurement what{.size_bytes = std::size_t{1} << 44, .spill_bytes = SIZE_MAX};
  EXPECT_THAT(no_room_for(what, "/dev/shm"),
              HasSubstr("one-way unix typed 16 TiB needs about 112 TiB of memory, and "));
  what.size_bytes = 8;
  EXPECT_EQ(no_room_for(what, "/dev/shm"), "");
  EXPECT_THAT(no_room_for(what, "/nowhere"), HasSubstr("cannot use /nowhere: "));
}

TEST(bench_payload, is_known_again_and_nothing_else_is) {
  for (const auto* data : {"noise", "records"})
    for (const std::size_t size : {8, 9, 1000, 100'000}) {
      const payload expected{size, data};
      auto bytes = expected.bytes();
      EXPECT_EQ(bytes.size(), size);
      EXPECT_TRUE(expected.is(bytes));
      bytes.front() ^= 1;
      EXPECT_FALSE(expected.is(bytes));
      bytes.front() ^= 1;
      bytes.back() ^= 1;
      EXPECT_FALSE(expected.is(bytes));
      bytes.pop_back();
      EXPECT_FALSE(expected.is(bytes)) << "shorter";
    }
}

run_results two_results() {
  run_results made{.where = {.cpu = "A \"B\", C", .cores = 2, .kernel = "Linux", .build = "Release"}};
  made.all.push_back(
      {.what = {.how = pattern::echo, .size_bytes = 8},
       .path = "socket",
       .messages_a_second = {1000, 900, 1100},
       .bytes_a_second = {8000, 7200, 8800},
       .trips = trip_times{.p50 = {1e-5, 9e-6, 2e-5}, .p99 = {1e-4, 1e-4, 1e-4}, .max = {1e-3, 1e-3, 2e-3}}});
  made.all.push_back({.what = {.how = pattern::one_way, .size_bytes = 64}, .failure = "it <failed>, \"so\""});
  return made;
}

TEST(bench_report, each_form_is_what_its_readers_take) {
  const auto results = two_results();
  const auto document = nlohmann::json::parse(json_of(results));
  EXPECT_EQ(document["machine"]["cpu"], "A \"B\", C");
  EXPECT_DOUBLE_EQ(document["results"][0]["round_trip_us"]["p50"]["median"], 10);
  EXPECT_EQ(document["results"][1]["failure"], "it <failed>, \"so\"");
  if (bench::can_draw()) { // Without gnuplot, `--svg` is refused.
    EXPECT_EQ(bench::tests::wrong_with(svg_of(results).value_or("")), "");
  }
  EXPECT_THAT(csv_of(results), HasSubstr("\r\none-way,unix,typed,none,64,,\"it <failed>, \"\"so\"\"\",,,"));
  EXPECT_THAT(csv_of(results), HasSubstr(",\"A \"\"B\"\", C\",2,Linux,"));
  EXPECT_THAT(text_of(results), HasSubstr("echo     unix       typed   none          8 B      10"));
}

} // namespace

} // namespace troupe::tools
