// Tests when a floor counts as met.
#include "throughput/floors.hpp"

#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench::tests {
namespace {

using testing::HasSubstr;

struct reached {
  double one_way = 14;
  double echo = 8;
  double round_trip = 3;
  double fan_in = 0.8;
  double fan_out = 0.8;
  double local_one_way = 0.971;
  double local_round_trip = 1.03;
  double seen = 0.97;
};

bool are_met(const reached& ratios, std::ostream& out) {
  const auto of = [](const char* subject, const char* name, std::map<std::string, double> to) {
    return row{{name, ""}, subject, 1, 1, 1, std::move(to)};
  };
  constexpr const char* together = "one-way small struct, all processes together";
  return check_floors({of("troupe-unix-seen", "one-way small struct", {{"troupe-unix-unseen", ratios.seen}}),
                       of("troupe-unix", "one-way small struct", {{"caf-basp", ratios.one_way}, {"zeromq-ipc", 0.5}}),
                       of("troupe-unix", "pipelined echo", {{"caf-basp", ratios.echo}}),
                       of("troupe-unix", "idle round trip, a core each p50", {{"raw-asio-unix", ratios.round_trip}}),
                       of("fan-in-8", together, {{"one-pair", ratios.fan_in}}),
                       of("fan-out-8", together, {{"one-pair", ratios.fan_out}}),
                       of("troupe-local", "local one-way small struct", {{"caf-local", ratios.local_one_way}}),
                       of("troupe-local", "local request round trip p50", {{"caf-local", ratios.local_round_trip}})},
                      out);
}

TEST(floors, are_met_at_the_limit_even_when_goals_are_missed) {
  std::ostringstream out;
  EXPECT_TRUE(are_met({}, out)) << out.str();
  EXPECT_THAT(out.str(), HasSubstr("floor met: one-way small struct of troupe-unix at least 14 x caf-basp, is 14 x\n"));
  EXPECT_THAT(out.str(), HasSubstr("goal  missed: one-way small struct of troupe-unix at least 1 x zeromq-ipc"));
}

TEST(floors, each_one_counts) {
  std::ostringstream out;
  EXPECT_FALSE(are_met({.one_way = 13.9}, out));
  EXPECT_FALSE(are_met({.echo = 7.9}, out));
  EXPECT_FALSE(are_met({.round_trip = 3.1}, out));
  EXPECT_FALSE(are_met({.fan_in = 0.79}, out));
  EXPECT_FALSE(are_met({.fan_out = 0.79}, out));
  EXPECT_FALSE(are_met({.local_one_way = 0.97}, out));
  EXPECT_FALSE(are_met({.local_round_trip = 1.04}, out));
  EXPECT_FALSE(are_met({.seen = 0.96}, out));
}

TEST(floors, what_was_not_measured_is_not_met) {
  std::ostringstream out;
  EXPECT_FALSE(check_floors({}, out));
  EXPECT_THAT(out.str(), HasSubstr("floor not checked: pipelined echo"));
}

} // namespace
} // namespace bench::tests
