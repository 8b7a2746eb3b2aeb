// The report of a comparison, and one tiny run of the program that makes comparisons.
#include "compare/writing.hpp"
#include "harness/plot.hpp"
#include "harness/report.hpp"
#include "harness/well_formed.hpp"
#include "program_run.hpp"

#include <signal.h>

#include <set>
#include <sstream>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace bench::tests {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::Pair;

class compare : public program_run {
protected:
  compare() : program_run(COMPARE_PROGRAM) {}

  [[nodiscard]] std::filesystem::path results_folder() const { return folder_ / "results"; }
  [[nodiscard]] std::string written(const std::string& name) const { return read_file(results_folder() / name); }
};

TEST_F(compare, a_tiny_run_writes_tables_data_and_plots) {
  EXPECT_EQ(run({"--tiny", "--folder", results_folder().string(), "--subjects",
                 "troupe-unix,troupe-store,zeromq-ipc,raw-asio-unix,memcpy"}),
            exited_with(0))
      << output() << errors();
  expect_nothing_left();
  std::set<std::string> files;
  for (const auto& file : std::filesystem::directory_iterator{results_folder()})
    files.insert(file.path().filename());
  EXPECT_EQ(files, (std::set<std::string>{"echo.svg", "large-values.svg", "one-way.svg", "results.json", "results.md",
                                          "round-trip.svg"}));
  for (const auto* plot : {"echo.svg", "large-values.svg", "one-way.svg", "round-trip.svg"})
    EXPECT_EQ(wrong_with(written(plot)), "") << plot;
  EXPECT_THAT(written("results.md"),
              HasSubstr("| one-way small struct | msg/s | least | greatest | `troupe-unix` is |"));
  EXPECT_THAT(written("results.md"), HasSubstr("| **troupe-store** |"));
  const auto json = nlohmann::json::parse(written("results.json"));
  EXPECT_THAT(json.at("date").get<std::string>(), testing::MatchesRegex("....-..-.. ..:.. UTC"));
  EXPECT_NE(json.at("machine").at("processor"), "");
  EXPECT_GE(json.at("processors").at("ours").get<double>(), 0);
  EXPECT_FALSE(json.at("rows").empty());
}

TEST_F(compare, a_signal_ends_the_benchmark_that_runs) {
  start({"--folder", results_folder().string(), "--subjects", "raw-asio-unix", "--rounds", "1000"});
  EXPECT_TRUE(eventually([this] { return processes().size() == 3; })); // The benchmark, and its two ends.
  process_->signal(SIGTERM);
  EXPECT_EQ(end(), exited_with(128 + SIGTERM));
  expect_nothing_left();
  EXPECT_FALSE(std::filesystem::exists(results_folder()));
}

TEST_F(compare, unknown_subjects_are_refused) {
  EXPECT_EQ(run({"--subjects", "carrier-pigeons"}), exited_with(2));
}

row row_of(const quantity& what, std::string subject, double median, std::map<std::string, double> ratio_to = {}) {
  return {what, std::move(subject), median, median / 2, median * 2, std::move(ratio_to)};
}

/// Troupe beside a slower, a faster and an equal peer, a limit, and a missing peer.
comparison an_example() {
  const quantity rate{"one-way small struct", "msg/s"};
  const quantity time{"64 KiB there and answered", "ms"};
  const std::vector<row> small{
      row_of(rate, "troupe-unix", 1000,
             {{"slow", 4}, {"quick", 0.5}, {"like", 1.02}, {"raw-asio-unix", 0.1}, {"troupe-tcp", 0.8}}),
      row_of(rate, "slow", 250),
      row_of(rate, "quick", 2000),
      row_of(rate, "like", 980),
      row_of(rate, "troupe-tcp", 1200),
      row_of(rate, "raw-asio-unix", 10000)};
  const std::vector<row> large{row_of(time, "troupe-unix", 2, {{"slow", 0.25}, {"quick", 4}}), row_of(time, "slow", 8),
                               row_of(time, "quick", 0.5)};
  return {.date = "2026-11-22 21:40 UTC",
          .machine = {{"processor", "a <quick> one"}},
          .taken = {.ours = 0.5, .others = 0.2, .host = 0},
          .extent = "5 rounds",
          .benchmarks = {{"throughput", small, {{"nng-ipc", {.is_absent = true, .reason = "not built: x not found"}}}},
                         {"payloads", large, {}}}};
}

TEST(comparison, names_what_it_was_made_on_and_that_others_were_at_work) {
  const auto text = markdown_of(an_example());
  EXPECT_THAT(text, HasSubstr("2026-11-22 21:40 UTC, 5 rounds, by `bench/run`."));
  EXPECT_THAT(text, HasSubstr("other programs took 20 % of the processor time. **The machine was not quiet**: "));
  EXPECT_THAT(text, HasSubstr("| processor | a <quick> one |"));
  auto quiet = an_example();
  quiet.taken.others = 0.01;
  EXPECT_THAT(markdown_of(quiet), HasSubstr("other programs took 1 % of the processor time.\n"));
}

TEST(comparison, has_the_best_first_and_says_who_is_ahead_by_how_much) {
  EXPECT_THAT(markdown_of(an_example()),
              HasSubstr("| one-way small struct | msg/s | least | greatest | `troupe-unix` is |\n"
                        "| --- | ---: | ---: | ---: | --- |\n"
                        "| _raw-asio-unix_ (limit) | 10,000 | 5,000 | 20,000 | **10 x slower** |\n"
                        "| quick | 2,000 | 1,000 | 4,000 | **2 x slower** |\n"
                        "| **troupe-tcp** | 1,200 | 600 | 2,400 |  |\n"
                        "| **troupe-unix** | 1,000 | 500 | 2,000 |  |\n"
                        "| like | 980 | 490 | 1,960 | even |\n"
                        "| slow | 250 | 125 | 500 | 4 x faster |\n"));
  EXPECT_THAT(markdown_of(an_example()), HasSubstr("| quick | 0.5 | 0.25 | 1 | **4 x slower** |\n"
                                                   "| **troupe-unix** | 2 | 1 | 4 |  |\n"
                                                   "| slow | 8 | 4 | 16 | 4 x faster |\n"));
}

TEST(comparison, names_losses_before_the_tables_and_what_is_missing_after_them) {
  const auto text = markdown_of(an_example());
  EXPECT_THAT(text, HasSubstr("- one-way small struct: `troupe-unix` is behind quick (2 x)\n"
                              "- 64 KiB there and answered: `troupe-unix` is behind quick (4 x)\n"));
  EXPECT_THAT(text, HasSubstr("- nng-ipc, throughput: not built: x not found\n"));
  EXPECT_THAT(text, HasSubstr("cmake/install-dependencies peers"));
  auto whole = an_example();
  whole.benchmarks = {{"throughput", {row_of({"a", "msg/s"}, "troupe-unix", 2, {{"slow", 2}})}, {}}};
  EXPECT_THAT(markdown_of(whole), HasSubstr("In this run no peer is ahead of Troupe by more than 5 %."));
  EXPECT_THAT(markdown_of(whole), Not(HasSubstr("## Missing")));
}

TEST(comparison, has_all_of_it_in_one_table_with_what_is_ahead_in_bold) {
  EXPECT_THAT(markdown_of(an_example()), HasSubstr("| | one-way small struct, msg/s | 64 KiB there and answered, ms |\n"
                                                   "| --- | ---: | ---: |\n"
                                                   "| **troupe-unix** | 1,000 | 2 |\n"
                                                   "| **troupe-tcp** | 1,200 |  |\n"
                                                   "| slow | 250 | 8 |\n"
                                                   "| quick | **2,000** | **0.5** |\n"
                                                   "| like | 980 |  |\n"
                                                   "| _raw-asio-unix_ (limit) | 10,000 |  |\n"));
}

TEST(comparison, has_the_plots_that_there_are_values_for) {
  const auto plots = plots_of(an_example());
  ASSERT_THAT(plots,
              ElementsAre(Pair("one-way", HasSubstr("boxxyerror")), Pair("large-values", HasSubstr("yerrorlines"))));
  for (const auto& [name, script] : plots)
    EXPECT_EQ(wrong_with(drawn(script).value_or("")), "") << name;
}

TEST(comparison, is_read_back_from_what_benchmarks_write) {
  std::stringstream lines;
  const auto small = an_example().benchmarks.front();
  write_json(lines, "throughput", small.rows, small.missing);
  const auto read = read_results("throughput", lines);
  ASSERT_TRUE(read) << read.error();
  ASSERT_EQ(read->rows.size(), small.rows.size());
  EXPECT_EQ(read->rows.front().ratio_to, small.rows.front().ratio_to);
  EXPECT_EQ(read->rows.back().median, small.rows.back().median);
  ASSERT_EQ(read->missing.size(), 1u);
  EXPECT_EQ(read->missing.front().second.reason, "not built: x not found");
  std::istringstream none{"no json"};
  EXPECT_FALSE(read_results("throughput", none));
}

} // namespace
} // namespace bench::tests
