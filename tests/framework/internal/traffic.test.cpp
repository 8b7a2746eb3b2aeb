#include <troupe/framework/internal/link/link_totals.hpp>
#include <troupe/framework/internal/link/traffic.hpp>

#include <gtest/gtest.h>

namespace troupe::internal {
namespace {

using std::chrono::nanoseconds;

TEST(traffic, the_first_small_payload_is_timed_and_then_one_in_64_that_stands_for_all) {
  traffic counted;
  std::uint64_t stands_for = 0;
  for (int i = 0; i < 1 + 640; ++i) {
    if (const auto timed_for = counted.timed_for(); timed_for > 0) {
      counted.add_time(nanoseconds{10}, timed_for);
      stands_for += timed_for;
    }
    counted.count(100);
  }
  EXPECT_EQ(stands_for, 1u + 640u);
  EXPECT_EQ(counted.totals().time, nanoseconds{6'410});
  EXPECT_EQ(counted.totals().payloads, 641u);
  EXPECT_EQ(counted.totals().bytes, 64'100u);
}

TEST(traffic, what_follows_a_large_payload_is_timed_each_time) {
  traffic counted;
  counted.count(traffic::large_bytes);
  EXPECT_EQ(counted.timed_for(), 1u);
  counted.count(traffic::large_bytes);
  EXPECT_EQ(counted.timed_for(), 1u);
  counted.count(traffic::large_bytes - 1);
  EXPECT_EQ(counted.timed_for(), 0u);
}

TEST(traffic, a_table_has_a_row_for_each_pair_of_names_and_both_directions_meet_in_it) {
  traffic_table sent, received;
  sent.of("typed", "b").count(1);
  sent.of("typed", "a").count(2);
  sent.of("json", "b").count(3);
  sent.of("typed", "a").count(4);
  received.of("typed", "a").count(5);
  std::vector<type_stats> rows;
  sent.add_to(rows, &type_stats::sent);
  received.add_to(rows, &type_stats::received);
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].family, "json");
  EXPECT_EQ(rows[1].type, "a");
  EXPECT_EQ(rows[1].sent.bytes, 6u);
  EXPECT_EQ(rows[1].sent.payloads, 2u);
  EXPECT_EQ(rows[1].received.bytes, 5u);
  EXPECT_EQ(rows[2].type, "b");
}

TEST(link_totals, everything_is_summed) {
  link_stats one;
  std::uint64_t next = 1;
  for (auto counter : link_counters)
    one.*counter = next++;
  for (auto gauge : link_gauges)
    one.*gauge = next++;
  one.encode_time = nanoseconds{1'000};
  one.decode_time = nanoseconds{2'000};
  row_of(one.by_type, "typed", "a").sent = {1, 2, nanoseconds{3}};
  for (const auto& [name, kind] : latency_kinds)
    one.latencies.*kind = {.count = next, .max = nanoseconds{9}, .buckets = {{nanoseconds{9}, next}}};
  auto total = one;
  row_of(total.by_type, "typed", "b").received = {4, 5, nanoseconds{6}};
  add(total, one);
  for (auto counter : link_counters)
    EXPECT_EQ(total.*counter, 2 * one.*counter);
  for (auto gauge : link_gauges)
    EXPECT_EQ(total.*gauge, 2 * one.*gauge);
  for (const auto& [name, kind] : latency_kinds) {
    EXPECT_EQ((total.latencies.*kind).count, 2 * next) << name;
    EXPECT_EQ((total.latencies.*kind).buckets.size(), 1u) << name;
  }
  EXPECT_EQ(total.encode_time, nanoseconds{2'000});
  EXPECT_EQ(total.decode_time, nanoseconds{4'000});
  ASSERT_EQ(total.by_type.size(), 2u);
  EXPECT_EQ(total.by_type[0].sent.bytes, 4u);
  EXPECT_EQ(total.by_type[1].received.payloads, 4u);
  clear_gauges(total);
  EXPECT_EQ(total.credit_bytes, 0u);
  EXPECT_EQ(total.messages_sent, 2 * one.messages_sent);
}

} // namespace
} // namespace troupe::internal
