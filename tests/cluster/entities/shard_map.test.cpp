// Goal: every process places keys and shards alike, evenly, and moves as little as possible.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include <caf/make_message.hpp>
#include <caf/message.hpp>

#include <troupe/framework/cluster/internal/entities/arrival_order.hpp>
#include <troupe/framework/cluster/internal/entities/entity_address.hpp>
#include <troupe/framework/cluster/internal/entities/shard_map.hpp>
#include <troupe/framework/cluster/internal/membership/entry_keys.hpp>
#include <troupe/framework/cluster/internal/membership/member_record.hpp>
#include <troupe/framework/cluster/internal/membership/stable_hash.hpp>

namespace troupe::tests {
namespace {

using namespace membership;

TEST(shard_map, places_keys_as_the_format_says) {
  EXPECT_EQ(stable_hash(""), 0xefd01f60ba992926u);
  EXPECT_EQ(stable_hash("nl-4711"), 0x769913ab9a8b7532u);
  EXPECT_EQ(shard_of("nl-4711", 256), 50u);
  const std::vector<std::string> hosts{"one", "two", "three"};
  const std::vector<std::size_t> places{2, 2, 2, 0, 1, 1};
  for (std::uint32_t i = 0; i < places.size(); ++i)
    EXPECT_EQ(place_of("account", i, hosts), places[i]) << i;
}

TEST(shard_map, spreads_keys_and_shards_evenly) {
  std::map<std::uint32_t, int> keys;
  for (auto i = 0; i < 25'600; ++i)
    ++keys[shard_of("key-" + std::to_string(i), 256)];
  EXPECT_EQ(keys.size(), 256u);
  for (const auto& [shard, count] : keys)
    EXPECT_LT(std::abs(count - 100), 60) << shard;
  const std::vector<std::string> hosts{"a", "b", "c", "d"};
  std::map<std::size_t, int> shards;
  for (std::uint32_t i = 0; i < 1'024; ++i)
    ++shards[*place_of("account", i, hosts)];
  for (const auto& [host, count] : shards)
    EXPECT_LT(std::abs(count - 256), 80) << host;
}

TEST(shard_map, moves_only_the_shards_of_the_host_that_comes_or_goes) {
  const std::vector<std::string> before{"a", "b", "c"};
  const std::vector<std::string> after{"a", "c", "d"};
  for (std::uint32_t i = 0; i < 256; ++i) {
    const auto was = before[*place_of("account", i, before)];
    const auto is = after[*place_of("account", i, after)];
    EXPECT_TRUE(was == is || was == "b" || is == "d") << i;
  }
  EXPECT_EQ(place_of("account", 1, {}), std::nullopt);
}

TEST(shard_map, does_not_depend_on_the_order_of_the_hosts) {
  const std::vector<std::string> one{"a", "b", "c"};
  const std::vector<std::string> other{"c", "b", "a"};
  for (std::uint32_t i = 0; i < 256; ++i)
    EXPECT_EQ(one[*place_of("account", i, one)], other[*place_of("account", i, other)]);
}

TEST(an_entity_address, comes_back_with_the_content) {
  const entity_address to{
      .key = "nl-4711", .shard = 4'095, .hops = 8, .way = entity_address::way_end - 1, .fence = UINT64_MAX};
  const auto sent = with_address(caf::make_message(1, std::string{"two"}), to);
  const auto read = address_of(sent);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->key, "nl-4711");
  EXPECT_EQ(read->shard, 4'095u);
  EXPECT_EQ(read->hops, 8u);
  EXPECT_FALSE(read->is_marker);
  EXPECT_EQ(read->way, entity_address::way_end - 1);
  EXPECT_EQ(read->fence, UINT64_MAX);
  const auto content = without_address(sent);
  ASSERT_EQ(content.size(), 2u);
  EXPECT_EQ(content.get_as<std::string>(1), "two");
  const auto marker = address_of(with_address({}, {.key = {}, .shard = 7, .is_marker = true}));
  ASSERT_TRUE(marker);
  EXPECT_TRUE(marker->is_marker);
  EXPECT_EQ(marker->shard, 7u);
}

TEST(an_entity_address, is_refused_if_it_is_malformed) {
  EXPECT_FALSE(address_of({}));
  EXPECT_FALSE(address_of(caf::make_message(1)));
  EXPECT_FALSE(address_of(caf::make_message(std::string{"key"}, 1)));
  constexpr std::uint64_t fence = 7;
  EXPECT_TRUE(address_of(caf::make_message(1, std::string{"key"}, std::uint64_t{1}, fence)));
  EXPECT_FALSE(address_of(caf::make_message(std::string{"key"}, std::uint64_t{1})));
  EXPECT_FALSE(address_of(caf::make_message(1, std::string{"key"}, std::uint32_t{1}, fence)));
  EXPECT_FALSE(address_of(caf::make_message(1, std::string{"key"}, std::uint64_t{1}, std::uint32_t{7})));
  EXPECT_FALSE(address_of(caf::make_message(1, std::string(1'025, 'k'), std::uint64_t{1}, fence)));
  EXPECT_FALSE(address_of(caf::make_message(1, std::string{"key"}, std::uint64_t{1} << 16, fence)));
}

class order_of_arrival : public testing::Test {
protected:
  bool is_late(std::uint64_t way, std::uint32_t hops = 0, std::uint64_t fence = 0) {
    entity_address to{.key = "k", .hops = hops, .way = way, .fence = fence};
    return order_.is_late(to);
  }
  /// Whether it is late to be passed on, and otherwise the fencing number with which it goes on.
  std::optional<std::uint64_t> passed_on(std::uint64_t way, std::uint64_t fence) {
    entity_address to{.key = "k", .way = way, .fence = fence};
    return order_.is_late_to_pass(to) ? std::nullopt : std::optional{to.fence};
  }

  static constexpr std::uint64_t one_ = 7 << arrival_order::change_bits;
  static constexpr std::uint64_t other_ = 8 << arrival_order::change_bits;
  arrival_order order_;
};

TEST_F(order_of_arrival, knows_messages_of_an_older_way) {
  EXPECT_FALSE(is_late(one_));
  EXPECT_FALSE(is_late(one_ + 2));
  EXPECT_FALSE(is_late(one_ + 2, 3));
  EXPECT_TRUE(is_late(one_ + 1));
  EXPECT_TRUE(is_late(one_));
  EXPECT_FALSE(is_late(other_)); // Nobody else is affected.
  EXPECT_FALSE(is_late(0));      // A sender that does not say its way.
  EXPECT_FALSE(is_late(one_ + 3));
}

TEST_F(order_of_arrival, knows_messages_that_went_in_a_circle_if_some_may_have) {
  EXPECT_FALSE(is_late(one_));
  EXPECT_FALSE(is_late(one_, 2));
  order_.count_hops();
  EXPECT_FALSE(is_late(one_, 2));
  EXPECT_FALSE(is_late(one_, 0));
  EXPECT_TRUE(is_late(one_, 2));
  EXPECT_FALSE(is_late(one_ + 1, 2)); // It was sent later, whatever its hops.
  EXPECT_TRUE(is_late(one_, 0));
}

TEST_F(order_of_arrival, keeps_a_bounded_number_of_senders) {
  for (std::uint64_t sender = 1; sender <= arrival_order::senders_max; ++sender)
    EXPECT_FALSE(is_late((sender << arrival_order::change_bits) + 2));
  constexpr std::uint64_t first = 1 << arrival_order::change_bits;
  EXPECT_TRUE(is_late(first + 1));
  EXPECT_FALSE(is_late(((arrival_order::senders_max + 1) << arrival_order::change_bits) + 2));
  EXPECT_FALSE(is_late(first + 1)); // All were forgotten.
}

TEST_F(order_of_arrival, knows_messages_that_were_sent_to_owners_before_the_last_one) {
  order_.own(30, 20);
  EXPECT_FALSE(is_late(one_, 0, 20)); // The owner before has passed it on.
  EXPECT_TRUE(is_late(one_, 0, 19));  // The one before that has; later messages may have gone to the other one.
  EXPECT_FALSE(is_late(one_, 0, 30));
  EXPECT_FALSE(is_late(one_, 0, 0)); // A sender that does not say.
}

TEST_F(order_of_arrival, is_known_after_the_ownership) {
  EXPECT_EQ(passed_on(one_, 3), 3u); // This member has owned the shard never.
  order_.own(30, 20);
  EXPECT_FALSE(is_late(one_ + 2, 0, 30));
  EXPECT_EQ(passed_on(one_ + 1, 30), std::nullopt); // It comes after a message that was handled here.
  EXPECT_EQ(passed_on(one_ + 2, 20), 30u);
  EXPECT_EQ(passed_on(other_, 19), std::nullopt);
  EXPECT_EQ(passed_on(other_, 31), 31u); // It was sent to a later owner.
  order_.own(50, 40);
  EXPECT_TRUE(is_late(one_ + 1, 0, 50));
}

TEST_F(order_of_arrival, forgets_circles_of_the_ownership_before) {
  order_.count_hops();
  order_.own(30, 20);
  EXPECT_FALSE(is_late(one_, 0, 30));
  order_.own(50, 30);
  EXPECT_FALSE(is_late(one_, 2, 30)); // It was passed on, and came back with the shard.
  EXPECT_FALSE(is_late(one_, 1, 30));
  EXPECT_TRUE(is_late(one_, 2, 30));
}

TEST_F(order_of_arrival, is_answered_for_by_the_owner_that_has_checked_it) {
  order_.own(30, 20);
  entity_address to{.key = "k", .way = one_, .fence = 20};
  EXPECT_FALSE(order_.is_late(to));
  EXPECT_EQ(to.fence, 30u);
  to.fence = 31;
  EXPECT_FALSE(order_.is_late(to));
  EXPECT_EQ(to.fence, 31u);
}

TEST(the_keys_of_entities, come_back) {
  EXPECT_EQ(shard_key("a/b", 17), "shards/a%2Fb/17");
  EXPECT_EQ(shard_in("shards/a%2Fb/17")->kind, "a/b");
  EXPECT_EQ(shard_in("shards/a%2Fb/17")->shard, 17u);
  for (const auto* bad : {"shards/a", "shards/a/", "shards/a/-1", "shards/a/01", "shards/a/4096", "shards/a/1/2",
                          "shards//1", "shards/a/99999999999"})
    EXPECT_FALSE(shard_in(bad)) << bad;
  EXPECT_EQ(kind_in(kind_key("a/b")), "a/b");
  const auto remembered = remembered_in(remembered_key("a/b", 3, "k/1"));
  ASSERT_TRUE(remembered);
  EXPECT_EQ(remembered->shard, 3u);
  EXPECT_EQ(remembered->key, "k/1");
  EXPECT_FALSE(remembered_in("remembered/a/x/k"));
  EXPECT_EQ(read_kind_record(kind_record(64)), 64u);
  for (const auto* bad : {"", "[]", "{}", R"({"shards":0})", R"({"shards":4097})", R"({"shards":"1"})"})
    EXPECT_FALSE(read_kind_record(bad)) << bad;
}

} // namespace
} // namespace troupe::tests
