// The benchmark as a real program with real processes: that it runs, what it writes, and that nothing of it is left
// behind. How fast anything is, is not tested here.
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
  EXPECT_EQ(run({"--quick", "--json", json().string()}), 0) << output() << errors();
  expect_nothing_left();
  std::map<std::string, std::map<std::string, double>> values; // By subject and quantity.
  const auto lines = results("bulk");
  for (const auto& line : lines)
    values[line.get<std::string>("subject")][line.get<std::string>("case")] = line.get<double>("median");
  EXPECT_THAT(lines, SizeIs(14));
  ASSERT_THAT(values, SizeIs(2));
  for (const auto* subject : {"troupe-unix", "troupe-tcp"}) {
    const auto& of = values[subject];
    ASSERT_THAT(of, SizeIs(7)) << subject;
    EXPECT_NEAR(of.at(slowdown_name), of.at("round trip beside bulk p50") / of.at("idle round trip p50"),
                of.at(slowdown_name) / 1'000);
  }
  EXPECT_THAT(errors(), IsEmpty()); // No message was refused.
}

TEST_F(bulk, a_limit_is_looked_at_unless_the_run_is_quick) {
  EXPECT_EQ(run({"--quick", "--subjects", "troupe-unix"}), 0) << errors();
  EXPECT_THAT(output(), Not(HasSubstr("limit ")));
  EXPECT_THAT(output(), Not(HasSubstr("troupe-tcp")));
  EXPECT_EQ(run({"--rounds", "1", "--bulk-messages", "2", "--round-trips", "10", "--subjects", "troupe-tcp"}), 0);
  EXPECT_THAT(output(), HasSubstr("limit "));
}

TEST_F(bulk, control_c_ends_all_processes) {
  start({"--bulk-messages", "100000"});
  EXPECT_THAT(both_ends(), SizeIs(2));
  ::kill(process_, SIGINT);
  EXPECT_EQ(end(), 128 + SIGINT);
  expect_nothing_left();
}

TEST_F(bulk, a_subject_that_dies_fails_at_once) {
  start({"--bulk-messages", "100000", "--subjects", "troupe-unix"});
  ::kill(both_ends().front(), SIGKILL);
  EXPECT_EQ(end(), 1);
  EXPECT_THAT(output(), HasSubstr("troupe-unix failed: "));
  expect_nothing_left();
}

TEST(bulk_limits, are_met_by_the_median_of_every_subject) {
  const quantity slowdown{slowdown_name, "times"};
  const auto checked = [&](double of_unix, double of_tcp) {
    std::ostringstream said;
    const std::vector<row> rows{{{"idle round trip p50", "us"}, "troupe-unix", 60, 60, 60, {}},
                                {slowdown, "troupe-unix", of_unix, 1, 9, {}},
                                {slowdown, "troupe-tcp", of_tcp, 1, 9, {}}};
    const auto is_met = check_limits(rows, said);
    return std::pair{is_met, said.str()};
  };
  EXPECT_EQ(
      checked(2.5, 5),
      (std::pair{true, std::string{"limit met: round trip p50 beside bulk / idle of troupe-unix at most 5, is 2.5\n"
                                   "limit met: round trip p50 beside bulk / idle of troupe-tcp at most 5, is 5\n"}}));
  EXPECT_FALSE(checked(2.5, 5.1).first);
  EXPECT_THAT(checked(2.5, 5.1).second, HasSubstr("limit missed: round trip p50 beside bulk / idle of troupe-tcp"));
  std::ostringstream nothing;
  EXPECT_FALSE(check_limits({}, nothing));
}

} // namespace
} // namespace bench::tests
