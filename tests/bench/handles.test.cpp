// The benchmark as a real program with real processes: it runs, writes its results, and leaves nothing behind. Speed is
// not tested here.
#include "handles/limits.hpp"
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

class handles : public program_run {
protected:
  handles() : program_run(HANDLES_PROGRAM) {}
};

TEST_F(handles, a_quick_run_has_a_line_of_json_for_each_subject_and_quantity) {
  EXPECT_EQ(run({"--quick", "--json", json().string()}), exited_with(0)) << output() << errors();
  expect_nothing_left();
  std::map<std::string, std::map<std::string, double>> values; // By subject and quantity.
  const auto lines = results("handles");
  for (const auto& line : lines)
    values[line.at("subject").get<std::string>()][line.at("case").get<std::string>()] = line.at("median").get<double>();
  EXPECT_THAT(lines, SizeIs(3 + 3 * (2 * 4 + 2) + 2 + 2 + 2 * 7));
  ASSERT_THAT(values, SizeIs(8));
  for (const auto* subject : {"get-own", "get-received", "get-pulled"}) {
    EXPECT_GE(values[subject][get_spread_name], 1) << subject;
    EXPECT_GT(values[subject][get_to_store_name], 0) << subject;
  }
  for (const auto* subject : {"pull", "raw-tcp"}) {
    EXPECT_GT(values[subject][pull_quarter_name], 0) << subject;
    EXPECT_GT(values[subject][pull_large_name], 0) << subject;
  }
  for (const auto* subject : {"ring-8", "ring-8-on-4-hosts"}) {
    EXPECT_GT(values[subject][late_hops_name], 0) << subject;
    EXPECT_EQ(values[subject][rows_name], 1) << subject;
  }
  EXPECT_THAT(errors(), IsEmpty()); // No message was refused.
}

TEST_F(handles, a_limit_is_looked_at_unless_the_run_is_quick) {
  EXPECT_EQ(run({"--quick", "--subjects", "send"}), exited_with(0)) << errors();
  EXPECT_THAT(output(), Not(HasSubstr("limit ")));
  EXPECT_THAT(output(), Not(HasSubstr("get-own")));
  EXPECT_EQ(run({"--rounds", "1", "--bytes", "1048576", "--requests", "10", "--subjects", "send"}), exited_with(0));
  EXPECT_THAT(output(), HasSubstr("limit "));
}

TEST_F(handles, control_c_ends_all_processes) {
  start({"--subjects", "ring-8", "--hops", "10000000"});
  EXPECT_TRUE(eventually([this] { return processes().size() == 9; }));
  process_->signal(SIGINT);
  EXPECT_EQ(end(), exited_with(128 + SIGINT));
  expect_nothing_left();
}

TEST_F(handles, stores_are_gone_with_the_run_even_when_their_users_were_killed) {
  start({"--rounds", "1000", "--bytes", "1048576", "--subjects", "pull"});
  for (const auto end : both_ends())
    ::kill(end, SIGKILL);
  EXPECT_EQ(end(), exited_with(1));
  EXPECT_THAT(output(), HasSubstr("pull failed: "));
  expect_nothing_left();
}

/// The values for check_handles_limits; the defaults meet all limits.
struct reached {
  double reference = 1.5;
  double spread = 1.5;
  double to_store = 3;
  double quarter = 0.7;
  double large = 0.7;
  double late_hops = 1.1;
  double rows = 1;
  double memory = 1.02;
};

std::pair<bool, std::string> checked(const reached& of) {
  std::ostringstream said;
  const auto itself = [](const char* name, const char* subject, double value) {
    return row{{name, ""}, subject, value, value, value, {}};
  };
  const auto is_met = check_handles_limits({itself(reference_name, "send", of.reference),
                                            itself(get_spread_name, "get-received", of.spread),
                                            itself(get_to_store_name, "get-pulled", of.to_store),
                                            {{pull_quarter_name, ""}, "pull", 1, 1, 1, {{"raw-tcp", of.quarter}}},
                                            {{pull_large_name, ""}, "pull", 1, 1, 1, {{"raw-tcp", of.large}}},
                                            itself(late_hops_name, "ring-8", of.late_hops),
                                            itself(rows_name, "ring-8-on-4-hosts", of.rows),
                                            itself(memory_name, "ring-8", of.memory)},
                                           said);
  return {is_met, said.str()};
}

TEST(handles_limits, are_met_at_the_limit) {
  const auto [is_met, said] = checked({});
  EXPECT_TRUE(is_met) << said;
  EXPECT_THAT(said, HasSubstr("limit met: the large value from another host of pull at least 0.7 x raw-tcp, is 0.7\n"));
}

TEST(handles_limits, each_one_counts) {
  EXPECT_FALSE(checked({.reference = 1.51}).first);
  EXPECT_FALSE(checked({.spread = 1.51}).first);
  EXPECT_FALSE(checked({.to_store = 3.1}).first);
  EXPECT_FALSE(checked({.quarter = 0.69}).first);
  EXPECT_FALSE(checked({.large = 0.69}).first);
  EXPECT_FALSE(checked({.late_hops = 1.11}).first);
  EXPECT_FALSE(checked({.rows = 2}).first);
  EXPECT_FALSE(checked({.memory = 1.03}).first);
}

TEST(handles_limits, what_was_not_measured_is_not_met) {
  std::ostringstream said;
  EXPECT_FALSE(check_handles_limits({}, said));
  EXPECT_FALSE(check_handles_limits({{{pull_large_name, "MB/s"}, "pull", 1, 1, 1, {}}}, said));
  EXPECT_EQ(said.str(), "limit not checked: the large value from another host of pull at least 0.7 x raw-tcp\n");
}

} // namespace
} // namespace bench::tests
