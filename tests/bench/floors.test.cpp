// When floors are met.
#include "throughput/floors.hpp"

#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench::tests {
namespace {

using testing::HasSubstr;

std::vector<row> reached(double one_way, double echo, double round_trip) {
  const auto ours = [](const std::string& name, std::map<std::string, double> ratios) {
    return row{{name, ""}, "troupe-unix", 1, 1, 1, std::move(ratios)};
  };
  return {ours("one-way small struct", {{"caf-basp", one_way}, {"zeromq-ipc", 0.5}}),
          ours("pipelined echo", {{"caf-basp", echo}}),
          ours("idle round trip, a core each p50", {{"raw-asio-unix", round_trip}})};
}

TEST(floors, are_met_at_the_limit_even_when_goals_are_missed) {
  std::ostringstream out;
  EXPECT_TRUE(check_floors(reached(14, 8, 3), out));
  EXPECT_THAT(out.str(), HasSubstr("floor met: one-way small struct of troupe-unix at least 14 x caf-basp, is 14 x\n"));
  EXPECT_THAT(out.str(), HasSubstr("goal  missed: one-way small struct of troupe-unix at least 1 x zeromq-ipc"));
}

TEST(floors, each_one_counts) {
  std::ostringstream out;
  EXPECT_FALSE(check_floors(reached(13.9, 8, 3), out));
  EXPECT_FALSE(check_floors(reached(14, 7.9, 3), out));
  EXPECT_FALSE(check_floors(reached(14, 8, 3.1), out));
}

TEST(floors, what_was_not_measured_is_not_met) {
  std::ostringstream out;
  EXPECT_FALSE(check_floors({}, out));
  EXPECT_THAT(out.str(), HasSubstr("floor not checked: pipelined echo"));
}

} // namespace
} // namespace bench::tests
