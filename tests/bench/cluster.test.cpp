// The benchmark as a real program with real processes. Speed is not tested here.
#include "cluster_run.hpp"

#include "cluster/etcd_process.hpp"

#include <gmock/gmock.h>

namespace bench::tests {
namespace {

using testing::HasSubstr;

TEST_F(cluster_run_test, a_quick_run_with_host_has_a_line_of_json_for_each_figure) {
  expect_all_figures_of("host", medians_with("host"));
}

TEST_F(cluster_run_test, a_run_without_an_etcd_says_so_and_succeeds) {
  EXPECT_EQ(run({"--quick", "--questions", "rest", "--etcd", "/nowhere/etcd"}), exited_with(0)) << output() << errors();
  EXPECT_THAT(output(), HasSubstr("etcd is not available: there is no /nowhere/etcd: run cmake/unpack-etcd"));
  expect_nothing_left();
}

TEST_F(cluster_run_test, a_killed_run_leaves_no_process) {
  start({"--questions", "join", "--directories", "host", "--nodes", "3", "--processes", "3", "--rounds", "1000"});
  ASSERT_TRUE(eventually([&] { return processes().size() >= 3; }));
  process_->kill();
  EXPECT_TRUE(eventually([&] { return processes().empty(); }));
}

TEST(etcd_requests, of_a_stream_are_the_messages_that_came_on_it) {
  const auto counted = read_etcd_requests(R"(# HELP grpc_server_started_total
grpc_server_started_total{grpc_method="Range",grpc_service="etcdserverpb.KV",grpc_type="unary"} 7
grpc_server_msg_received_total{grpc_method="Range",grpc_service="etcdserverpb.KV",grpc_type="unary"} 7
grpc_server_started_total{grpc_method="LeaseKeepAlive",grpc_service="etcdserverpb.Lease",grpc_type="bidi_stream"} 1
grpc_server_msg_received_total{grpc_method="LeaseKeepAlive",grpc_service="etcdserverpb.Lease",grpc_type="bidi_stream"} 1e+06
grpc_server_started_total{grpc_method="Watch",grpc_service="etcdserverpb.Watch",grpc_type="bidi_stream"} 2
grpc_server_handled_total{grpc_code="OK",grpc_method="Watch",grpc_service="etcdserverpb.Watch",grpc_type="bidi_stream"} 9
)");
  EXPECT_EQ(counted, (etcd_requests{{"KV/Range", 7}, {"Lease/LeaseKeepAlive", 1'000'000}, {"Watch/Watch", 2}}));
  EXPECT_EQ(text_of(counted - etcd_requests{{"KV/Range", 5}, {"Watch/Watch", 2}}),
            "KV/Range 2, Lease/LeaseKeepAlive 1000000");
  EXPECT_EQ(text_of(counted - counted), "none");
}

TEST(etcd_writes, are_the_keys_that_were_written_and_removed) {
  const auto counted = read_etcd_writes("# TYPE etcd_mvcc_put_total counter\netcd_mvcc_put_total 1e+06\n"
                                        "etcd_debugging_mvcc_put_total 7\netcd_mvcc_delete_total 3\n");
  ASSERT_TRUE(counted) << counted.error();
  EXPECT_EQ(*counted, (etcd_writes{.puts = 1'000'000, .removals = 3}));
  EXPECT_FALSE(read_etcd_writes("etcd_mvcc_put_total 7\n"));
}

} // namespace
} // namespace bench::tests
