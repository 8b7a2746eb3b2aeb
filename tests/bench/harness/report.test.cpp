// The presentation of results.
#include "harness/report.hpp"

#include <limits>

#include <gtest/gtest.h>

namespace bench::tests {
namespace {

TEST(report, numbers_are_short) {
  EXPECT_EQ(short_number(1234567.8), "1,234,568");
  EXPECT_EQ(short_number(12.345), "12.3");
  EXPECT_EQ(short_number(0.045678), "0.0457");
  EXPECT_EQ(short_number(-5000), "-5,000");
  EXPECT_EQ(short_number(std::numeric_limits<double>::infinity()), "-");
}

TEST(report, a_line_of_json_has_the_form_that_all_benchmarks_share) {
  const row one{{"one-way small struct", "msg/s"}, "troupe-unix", 1.2e6, 1.1e6, 1.3e6, {{"caf-basp", 13.1}}};
  EXPECT_EQ(json_line("throughput", one),
            R"({"bench": "throughput", "case": "one-way small struct", "subject": "troupe-unix", "unit": "msg/s", )"
            R"("median": 1.2e+06, "min": 1.1e+06, "max": 1.3e+06, "ratio_to": {"caf-basp": 13.1}})");
}

TEST(report, what_has_no_results_has_a_line_with_the_reason) {
  EXPECT_EQ(json_line("throughput", "nng-ipc", failure{.is_absent = true, .reason = "not built: libnng-dev not found"}),
            R"({"bench": "throughput", "subject": "nng-ipc", "is_absent": true, )"
            R"("reason": "not built: libnng-dev not found"})");
}

TEST(report, texts_are_escaped_and_what_is_not_finite_is_null) {
  const row one{{"a \"b\"\n", "\\"}, "s", std::numeric_limits<double>::quiet_NaN(), 0, 1, {}};
  EXPECT_EQ(json_line("b", one), R"({"bench": "b", "case": "a \"b\"\u000a", "subject": "s", "unit": "\\", )"
                                 R"("median": null, "min": 0, "max": 1, "ratio_to": {}})");
}

TEST(report, the_table_has_a_block_for_each_quantity_and_aligned_columns) {
  const std::vector<row> rows{{{"one-way", "msg/s"}, "ours", 2000, 1000, 3000, {{"theirs", 4}}},
                              {{"one-way", "msg/s"}, "theirs", 500, 400, 600, {}},
                              {{"round trip", "us"}, "ours", 7, 6, 8, {}}};
  EXPECT_EQ(table(rows, {"theirs"}), "one-way     msg/s    min    max  / theirs\n"
                                     "  ours      2,000  1,000  3,000         4\n"
                                     "  theirs      500    400    600\n"
                                     "\n"
                                     "round trip     us    min    max  / theirs\n"
                                     "  ours          7      6      8\n");
}

TEST(report, a_table_of_nothing_is_empty) {
  EXPECT_EQ(table({}, {"theirs"}), "");
}

} // namespace
} // namespace bench::tests
