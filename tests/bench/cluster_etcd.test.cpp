// The benchmark of clusters with a real etcd. Speed is not tested here.
#include "cluster_run.hpp"

#include <gmock/gmock.h>

namespace bench::tests {
namespace {

using testing::HasSubstr;

TEST_F(cluster_run_test, a_quick_run_with_etcd_has_a_line_of_json_for_each_figure) {
  const auto values = medians_with("etcd");
  expect_all_figures_of("etcd", values);
  EXPECT_THAT(output(), HasSubstr("at rest: Lease/LeaseKeepAlive "));
}

} // namespace
} // namespace bench::tests
