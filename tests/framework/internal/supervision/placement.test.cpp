// Goal: a pool spreads messages as it was told, and a child that goes or comes moves as few keys as possible.
#include <map>
#include <vector>

#include <gtest/gtest.h>

#include <troupe/framework/internal/supervision/placement.hpp>

namespace troupe::internal {
namespace {

placement among(spread how, std::size_t children) {
  placement made{how, children};
  for (std::size_t i = 0; i < children; ++i)
    made.set_available(i, true);
  return made;
}

constexpr auto each_spread = {spread::round_robin, spread::least_loaded, spread::by_key};

std::vector<std::size_t> choices(placement& of, std::size_t count) {
  std::vector<std::size_t> made;
  for (std::uint64_t key = 0; key < count; ++key)
    made.push_back(of.choose(key).value());
  return made;
}

TEST(placement, chooses_no_child_if_none_is_available) {
  for (const auto how : each_spread) {
    placement none{how, 3};
    EXPECT_EQ(none.choose(1), std::nullopt);
    placement empty{how, 0};
    EXPECT_EQ(empty.choose(1), std::nullopt);
  }
}

TEST(placement, never_chooses_a_child_that_is_not_available) {
  for (const auto how : each_spread) {
    auto some = among(how, 5);
    some.set_available(3, false);
    for (std::uint64_t key = 0; key < 1'000; ++key)
      EXPECT_NE(some.choose(key), 3u);
  }
}

TEST(placement, round_robin_takes_turns) {
  auto four = among(spread::round_robin, 4);
  EXPECT_EQ(choices(four, 6), (std::vector<std::size_t>{0, 1, 2, 3, 0, 1}));
  four.set_available(2, false);
  EXPECT_EQ(choices(four, 4), (std::vector<std::size_t>{3, 0, 1, 3}));
}

TEST(placement, least_loaded_takes_the_child_with_the_fewest_requests) {
  auto three = among(spread::least_loaded, 3);
  three.add_load(0);
  three.add_load(0);
  three.add_load(1);
  EXPECT_EQ(three.choose(0), 2u);
  three.add_load(2);
  three.add_load(2);
  EXPECT_EQ(three.choose(0), 1u);
  three.remove_load(0);
  three.remove_load(0);
  EXPECT_EQ(three.choose(0), 0u);
}

TEST(placement, equally_loaded_children_take_turns) {
  auto three = among(spread::least_loaded, 3);
  EXPECT_EQ(choices(three, 4), (std::vector<std::size_t>{0, 1, 2, 0}));
}

TEST(placement, the_most_loaded_child_gets_nothing_if_loads_of_others_are_known) {
  auto five = among(spread::least_loaded, 5);
  five.seed(42);
  five.set_load_of_others(3, 7);
  std::map<std::size_t, int> count;
  for (auto i = 0; i < 1'000; ++i)
    ++count[five.choose(0).value()];
  EXPECT_FALSE(count.contains(3));
  EXPECT_EQ(count.size(), 4u); // All others, although each of them has the least load.
  five.set_load_of_others(3, std::nullopt);
  five.add_load(0);
  EXPECT_NE(five.choose(0), 0u);
}

TEST(placement, the_own_requests_count_beside_those_of_others) {
  auto two = among(spread::least_loaded, 2);
  two.set_load_of_others(0, 2);
  two.set_load_of_others(1, 0);
  EXPECT_EQ(two.choose(0), 1u);
  for (auto i = 0; i < 3; ++i)
    two.add_load(1);
  EXPECT_EQ(two.choose(0), 0u);
  const std::vector<std::size_t> except{0};
  EXPECT_EQ(two.choose(0, except), 1u);
  two.set_available(1, false);
  EXPECT_EQ(two.choose(0, except), std::nullopt);
}

TEST(placement, a_full_child_is_not_chosen_except_by_key) {
  for (const auto how : each_spread) {
    placement two{how, 2, 1};
    two.set_available(0, true);
    two.set_available(1, true);
    two.add_load(0);
    EXPECT_TRUE(how == spread::by_key || two.choose(1) == 1u);
    two.add_load(1);
    EXPECT_EQ(two.choose(1).has_value(), how == spread::by_key);
    two.remove_load(0);
    EXPECT_TRUE(how == spread::by_key || two.choose(1) == 0u);
  }
}

TEST(placement, the_same_key_goes_to_the_same_child) {
  auto five = among(spread::by_key, 5);
  EXPECT_EQ(choices(five, 1'000), choices(five, 1'000));
}

TEST(placement, keys_are_spread_evenly) {
  auto five = among(spread::by_key, 5);
  std::map<std::size_t, int> counts;
  for (const auto child : choices(five, 10'000))
    ++counts[child];
  for (const auto& [child, count] : counts)
    EXPECT_NEAR(count, 2'000, 200) << child;
}

TEST(placement, only_the_keys_of_a_child_that_goes_move_and_they_return) {
  auto five = among(spread::by_key, 5);
  const auto before = choices(five, 10'000);
  five.set_available(2, false);
  const auto without = choices(five, 10'000);
  std::map<std::size_t, int> moved_to;
  for (std::size_t key = 0; key < before.size(); ++key)
    if (before[key] != 2)
      EXPECT_EQ(without[key], before[key]);
    else
      ++moved_to[without[key]];
  EXPECT_EQ(moved_to.size(), 4u); // All others share them.
  five.set_available(2, true);
  EXPECT_EQ(choices(five, 10'000), before);
}

} // namespace
} // namespace troupe::internal
