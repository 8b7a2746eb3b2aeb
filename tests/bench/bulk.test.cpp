// The benchmark as a real program with real processes: it runs, writes its results, and leaves nothing behind. Speed is
// not tested here.
#include "bulk/limits.hpp"
#include "program_run.hpp"

#include <signal.h>

#include <map>
#include <sstream>

#include <gmock/gmock.h>

namespace bench::tests {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

class bulk : public program_run {
protected:
  bulk() : program_run(BULK_PROGRAM) {}
};

TEST_F(bulk, a_quick_run_has_a_line_of_json_for_each_subject_and_quantity) {
  EXPECT_EQ(run({"--quick", "--json", json().string()}), exited_with(0)) << output() << errors();
  expect_nothing_left();
  std::map<std::string, std::map<std::string, double>> values; // By subject and quantity.
  const auto lines = results("bulk");
  for (const auto& line : lines)
    values[line.at("subject").get<std::string>()][line.at("case").get<std::string>()] = line.at("median").get<double>();
  EXPECT_THAT(lines, SizeIs(2 * 7 + 2 * 1 + 4));
  ASSERT_THAT(values, SizeIs(5));
  for (const auto* subject : {"troupe-unix", "troupe-tcp"}) {
    const auto& of = values[subject];
    ASSERT_THAT(of, SizeIs(7)) << subject;
    EXPECT_NEAR(of.at(slowdown_name), of.at("round trip beside bulk p50") / of.at("idle round trip p50"),
                of.at(slowdown_name) / 1'000);
  }
  for (const auto* subject : {"raw-unix", "raw-tcp"})
    EXPECT_TRUE(values[subject].contains(bulk_alone_name)) << subject;
  const auto& by_store = values["troupe-store"];
  EXPECT_NEAR(by_store.at(by_store_name) * by_store.at("memcpy of as much"),
              by_store.at("large value by the store") - by_store.at("64 KiB by the store") / 1e3,
              by_store.at("large value by the store") / 1'000);
  EXPECT_THAT(errors(), IsEmpty()); // No message was refused.
}

TEST_F(bulk, a_limit_is_looked_at_unless_the_run_is_quick) {
  EXPECT_EQ(run({"--quick", "--subjects", "troupe-unix"}), exited_with(0)) << errors();
  EXPECT_THAT(output(), Not(HasSubstr("limit ")));
  EXPECT_THAT(output(), Not(HasSubstr("troupe-tcp")));
  EXPECT_EQ(run({"--rounds", "1", "--bulk-messages", "2", "--round-trips", "10", "--subjects", "troupe-tcp"}),
            exited_with(0));
  EXPECT_THAT(output(), HasSubstr("limit "));
}

TEST_F(bulk, control_c_ends_all_processes) {
  start({"--bulk-messages", "100000"});
  EXPECT_THAT(both_ends(), SizeIs(2));
  process_->signal(SIGINT);
  EXPECT_EQ(end(), exited_with(128 + SIGINT));
  expect_nothing_left();
}

TEST_F(bulk, a_store_is_gone_with_the_run_even_when_its_users_were_killed) {
  start({"--rounds", "1000", "--store-bytes", "1048576", "--subjects", "troupe-store"});
  for (const auto end : both_ends())
    ::kill(end, SIGKILL);
  EXPECT_EQ(end(), exited_with(1));
  EXPECT_THAT(output(), HasSubstr("troupe-store failed: "));
  expect_nothing_left();
}

TEST_F(bulk, a_subject_that_dies_fails_at_once) {
  start({"--bulk-messages", "100000", "--subjects", "troupe-unix"});
  ::kill(both_ends().front(), SIGKILL);
  EXPECT_EQ(end(), exited_with(1));
  EXPECT_THAT(output(), HasSubstr("troupe-unix failed: "));
  expect_nothing_left();
}

/// Returns the answer of check_limits to these ratios.
std::pair<bool, std::string> checked(double slowdown_of_unix, double slowdown_of_tcp, double to_raw_tcp,
                                     double by_store) {
  std::ostringstream said;
  const quantity slowdown{slowdown_name, "times"};
  const quantity alone{bulk_alone_name, "MB/s"};
  const std::vector<row> rows{{{"idle round trip p50", "us"}, "troupe-unix", 60, 60, 60, {}},
                              {slowdown, "troupe-unix", slowdown_of_unix, 1, 9, {}},
                              {slowdown, "troupe-tcp", slowdown_of_tcp, 1, 9, {}},
                              {alone, "troupe-unix", 1, 1, 1, {{"raw-unix", 0.8}, {"raw-tcp", 0.1}}},
                              {alone, "troupe-tcp", 1, 1, 1, {{"raw-unix", 0.1}, {"raw-tcp", to_raw_tcp}}},
                              {{by_store_name, "times"}, "troupe-store", by_store, 1, 1, {}}};
  const auto is_met = check_limits(rows, said);
  return {is_met, said.str()};
}

TEST(bulk_limits, are_met_by_the_medians_of_all_subjects) {
  const auto [is_met, said] = checked(2.5, 5, 0.8, 1.15);
  EXPECT_TRUE(is_met);
  EXPECT_EQ(said, "limit met: round trip p50 beside bulk / idle of troupe-unix at most 5, is 2.5\n"
                  "limit met: round trip p50 beside bulk / idle of troupe-tcp at most 5, is 5\n"
                  "limit met: bulk alone of troupe-unix at least 0.8 x raw-unix, is 0.8\n"
                  "limit met: bulk alone of troupe-tcp at least 0.8 x raw-tcp, is 0.8\n"
                  "limit met: (large - 64 KiB) by the store / memcpy of troupe-store at most 1.15, is 1.15\n");
}

TEST(bulk_limits, each_one_counts) {
  EXPECT_FALSE(checked(2.5, 5.1, 0.8, 1).first);
  EXPECT_THAT(checked(2.5, 5.1, 0.8, 1).second,
              HasSubstr("limit missed: round trip p50 beside bulk / idle of troupe-tcp"));
  EXPECT_FALSE(checked(2.5, 5, 0.79, 1).first);
  EXPECT_FALSE(checked(2.5, 5, 0.8, 1.16).first);
}

TEST(bulk_limits, what_was_not_measured_is_not_met) {
  std::ostringstream said;
  EXPECT_FALSE(check_limits({}, said));
  EXPECT_FALSE(check_limits({{{bulk_alone_name, "MB/s"}, "troupe-unix", 1, 1, 1, {}}}, said));
  EXPECT_EQ(said.str(), "limit not checked: bulk alone of troupe-unix at least 0.8 x raw-unix\n");
}

} // namespace
} // namespace bench::tests
