// Goal: Prometheus gets the figures of a member, as the README lists them.
#include <algorithm>
#include <fstream>
#include <set>

#include <gtest/gtest.h>

#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>

#include <troupe/framework/cluster/cluster.hpp>
#include <troupe/framework/prometheus/cluster_metrics.hpp>

#include "../../framework/two_nodes.hpp"
#include "../memory_directory.hpp"

namespace troupe::tests {
namespace {

class cluster_metrics : public testing::Test {
protected:
  [[nodiscard]] static std::set<std::string> names_of(const std::vector<prometheus::MetricFamily>& all) {
    std::set<std::string> names;
    for (const auto& each : all)
      names.insert(each.name);
    return names;
  }
  [[nodiscard]] double value(const std::string& name) const {
    for (const auto& each : metrics_->Collect())
      if (each.name == name)
        return each.metric.front().gauge.value;
    ADD_FAILURE() << "no metric " << name;
    return -1;
  }

  const std::shared_ptr<memory_world> world_ = std::make_shared<memory_world>();
  side at_{{.name = "one", .listen = {"unix://@" + unique_name("metrics")}, .store = std::nullopt}};
  std::optional<cluster> in_ =
      cluster::join(*at_.home, {.opened = std::make_shared<memory_directory>(world_), .lease = 2s}).value();
  const std::shared_ptr<prometheus::Collectable> metrics_ = troupe::cluster_metrics(in_->stats_reader());
};

TEST_F(cluster_metrics, are_those_that_the_readme_lists) {
  std::ifstream readme{CLUSTER_README};
  std::set<std::string> listed;
  for (std::string line; std::getline(readme, line);)
    if (line.starts_with("| `troupe_"))
      listed.insert(line.substr(3, line.find('`', 3) - 3));
  EXPECT_EQ(names_of(metrics_->Collect()), listed);
}

TEST_F(cluster_metrics, follow_the_member) {
  ASSERT_TRUE(in_->publish("cart", at_.system.spawn([]() -> caf::behavior { return {[](int) {}}; })));
  EXPECT_TRUE(eventually([&] { return value("troupe_cluster_names_published") == 1; }));
  EXPECT_EQ(value("troupe_cluster_members"), 1);
  EXPECT_EQ(value("troupe_cluster_directory_up"), 1);
  EXPECT_GT(value("troupe_cluster_lease_seconds_left"), 0);
  in_->drain();
  EXPECT_TRUE(eventually([&] { return value("troupe_cluster_names_published") == 0; }));
  EXPECT_EQ(value("troupe_cluster_draining"), 1);
  world_->fail(directory_errc::unavailable);
  EXPECT_TRUE(eventually([&] { return value("troupe_cluster_directory_up") == 0; }));
  world_->fail(std::nullopt);
}

TEST_F(cluster_metrics, are_only_up_and_0_once_the_member_has_left) {
  in_.reset();
  const auto all = metrics_->Collect();
  EXPECT_EQ(names_of(all), (std::set<std::string>{"troupe_cluster_up"}));
  EXPECT_EQ(value("troupe_cluster_up"), 0);
}

} // namespace
} // namespace troupe::tests
