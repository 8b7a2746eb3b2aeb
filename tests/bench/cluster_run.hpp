// A run of the benchmark of clusters.
#pragma once

#include "program_run.hpp"

#include <map>
#include <string>
#include <utility>

#include <gmock/gmock.h>

namespace bench::tests {

class cluster_run_test : public program_run {
protected:
  cluster_run_test() : program_run(CLUSTER_PROGRAM) {}

  /// By case and subject. Runs once, tiny.
  std::map<std::pair<std::string, std::string>, double> medians_with(const std::string& directory) {
    EXPECT_EQ(run({"--quick", "--directories", directory, "--json", json().string()}), exited_with(0))
        << output() << errors();
    expect_nothing_left();
    std::map<std::pair<std::string, std::string>, double> values;
    for (const auto& line : results("cluster"))
      values[{line.at("case").get<std::string>(), line.at("subject").get<std::string>()}] =
          line.at("median").get<double>();
    return values;
  }

  static void expect_all_figures_of(const std::string& directory,
                                    const std::map<std::pair<std::string, std::string>, double>& values) {
    for (const std::string name :
         {"kill -9 to member_down, lease 2 s", "kill -9 to the next answer of the singleton, lease 2 s",
          "kill -9 to the next answer of the entity, lease 2 s",
          "200 entities on 2 members, until the first message of each is answered",
          "200 entities on 2 members, resident memory for each",
          "kill -9 to the first answer of the member's entities, lease 2 s",
          "kill -9 to an answer of each of the member's entities, half of 200, lease 2 s",
          "transactions of the take-over of a killed member's shards",
          "6 nodes in 2 processes, until the last join() has returned",
          "6 nodes in 2 processes, until every node sees all", "resident memory with 200 members - with 10, for each",
          "allocated memory with 200 members - with 10, for each", "resident memory with 200 names - with 10, for each",
          "allocated memory with 200 names - with 10, for each"})
      EXPECT_THAT(values, testing::Contains(testing::Key(std::pair{name, directory})));
    for (const std::string name :
         {"requests a second, 100 in flight, members of ", "round trip of one request, p50, members of "})
      for (const std::string subject : {"plain", "plain-again", "service-round-robin", "service-nearest", "entity",
                                        "plain-local", "service-nearest-local"})
        EXPECT_THAT(values, testing::Contains(testing::Key(std::pair{name + directory + "://", subject})));
    for (const std::string subject :
         {"plain-again", "service-round-robin", "service-nearest", "entity", "service-nearest-local"})
      EXPECT_THAT(values,
                  testing::Contains(testing::Key(std::pair{
                      "requests a second / those of the plain handle, members of " + directory + "://", subject})));
    const std::pair<std::string, std::string> writes{
        "keys written by the take-over, less one for each transaction / shards of the killed member", directory};
    ASSERT_THAT(values, testing::Contains(testing::Key(writes)));
    EXPECT_NEAR(values.at(writes), 1, 0.05); // A transaction that writes nothing counts as well.
  }
};

} // namespace bench::tests
