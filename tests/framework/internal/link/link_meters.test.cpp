// The figures that a link counts.
#include <troupe/framework/internal/link/link_meters.hpp>

#include <gtest/gtest.h>

#include <troupe/serializers/type_registry.hpp>

namespace troupe::internal {
namespace {

class figures_of_a_link : public testing::Test {
protected:
  class late final : public late_figures {
  public:
    void note_late(const link_stats& more) override { noted.push_back(more); }
    std::vector<link_stats> noted;
  };

  link_mutex mutex_;
  late late_;
  link_meters meters_{mutex_, late_, true};
};

TEST_F(figures_of_a_link, count_what_was_not_sent_by_its_reason) {
  meters_.count_unsent({node_errc::link_busy, ""});
  meters_.count_unsent({node_errc::link_down, ""});
  meters_.count_unsent({node_errc::refused_family, ""});
  meters_.count_unsent({node_errc::unserializable, ""});
  const auto sums = meters_.sums();
  EXPECT_EQ(sums.refused_at_bound, 1u);
  EXPECT_EQ(sums.undelivered, 1u);
  EXPECT_EQ(sums.unserializable, 2u);
  EXPECT_EQ(sums.refused_by_policy, 1u);
  EXPECT_TRUE(late_.noted.empty());
}

TEST_F(figures_of_a_link, are_told_to_the_node_once_it_has_them) {
  meters_.retire(mutex_.lock());
  meters_.count_unsent({node_errc::link_down, ""});
  ASSERT_EQ(late_.noted.size(), 1u);
  EXPECT_EQ(late_.noted[0].undelivered, 1u);
  EXPECT_EQ(meters_.sums().undelivered, 1u);
}

TEST_F(figures_of_a_link, go_by_family_and_type) {
  type_registry types;
  const auto* type = types.find("i32");
  ASSERT_NE(type, nullptr);
  auto* sent = &meters_.sent()->of(no_family, type->alias());
  ASSERT_NE(sent, nullptr);
  sent->count(4);
  meters_.received()->of("typed", "i32").count(5);
  meters_.received()->of("typed", "i32").add_time(std::chrono::nanoseconds{7}, 1);
  auto sums = meters_.sums();
  ASSERT_EQ(sums.by_type.size(), 2u);
  EXPECT_EQ(row_of(sums.by_type, no_family, "i32").sent.bytes, 4u);
  EXPECT_EQ(row_of(sums.by_type, "typed", "i32").received.bytes, 5u);
  EXPECT_EQ(sums.decode_time, std::chrono::nanoseconds{7});
}

TEST_F(figures_of_a_link, have_the_latencies_each_by_its_kind) {
  using std::chrono::nanoseconds;
  meters_.round_trips()->add(nanoseconds{1'000}, 1);
  meters_.credit_waits()->add(nanoseconds{2'000}, 1);
  meters_.sent()->of("typed", "i32").add_time(nanoseconds{3'000}, 1);
  meters_.received()->of("typed", "i32").add_time(nanoseconds{4'000}, 64);
  meters_.handlers().add(nanoseconds{5'000}, 1);
  const auto seen = meters_.sums().latencies;
  EXPECT_EQ(seen.round_trip.max, nanoseconds{1'000});
  EXPECT_EQ(seen.credit_wait.max, nanoseconds{2'000});
  EXPECT_EQ(seen.encode.max, nanoseconds{3'000});
  EXPECT_EQ(seen.decode.max, nanoseconds{4'000});
  EXPECT_EQ(seen.decode.count, 64u);
  EXPECT_EQ(seen.handler.max, nanoseconds{5'000});
}

TEST_F(figures_of_a_link, are_sums_alone_where_nothing_more_is_wished) {
  link_meters plain{mutex_, late_, false};
  EXPECT_FALSE(plain.is_detailed());
  EXPECT_EQ(plain.received(), nullptr);
  type_registry types;
  EXPECT_EQ(plain.sent(), nullptr);
  EXPECT_EQ(plain.round_trips(), nullptr);
  EXPECT_EQ(plain.credit_waits(), nullptr);
  plain.counts().messages_sent = 3;
  EXPECT_EQ(plain.sums().messages_sent, 3u);
  EXPECT_TRUE(plain.sums().by_type.empty());
}

} // namespace
} // namespace troupe::internal
