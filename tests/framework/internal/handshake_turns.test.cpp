#include <troupe/framework/internal/trust/handshake_turns.hpp>

#include <functional>
#include <set>

#include <gtest/gtest.h>

namespace troupe::internal {
namespace {

using namespace std::chrono_literals;

peer_source from(const std::string& wide, const std::string& narrow = "one") {
  return {{wide, wide + narrow, wide + narrow}};
}

class turns : public testing::Test {
protected:
  using order = turn_order<int>;

  /// Returns the handshakes that start within `duration`, checked every 5 ms.
  std::vector<int> begun_within(std::chrono::milliseconds duration) {
    std::vector<int> begun;
    for (const auto until = now_ + duration; now_ < until; now_ += 5ms)
      while (const auto one = order_.next(now_, [this](int candidate) { return !gone_.contains(candidate); }))
        begun.push_back(*one);
    return begun;
  }

  order order_;
  order::clock::time_point now_{1h};
  std::set<int> gone_;
};

TEST_F(turns, of_few_come_at_once) {
  for (int i = 0; i < 5; ++i)
    order_.enter(i, from("here"));
  EXPECT_EQ(begun_within(5ms), (std::vector{0, 1, 2, 3, 4}));
  EXPECT_TRUE(order_.is_empty());
}

TEST_F(turns, of_one_source_are_25_a_second) {
  for (int i = 0; i < 1'000; ++i)
    order_.enter(i, from("here"));
  const auto first = begun_within(1s).size();
  EXPECT_GE(first, 30u); // Ten of them start at once.
  EXPECT_LE(first, 36u);
  EXPECT_NEAR(static_cast<double>(begun_within(10s).size()), 250, 5);
}

TEST_F(turns, of_all_sources_are_100_a_second) {
  for (int i = 0; i < 3'000; ++i)
    order_.enter(i, from(std::to_string(i % 500)));
  EXPECT_LE(begun_within(1s).size(), 121u);
  EXPECT_NEAR(static_cast<double>(begun_within(10s).size()), 1'000, 10);
}

// Goal: a flood from one network, whatever its addresses, does not delay peers from another network.
TEST_F(turns, are_taken_by_the_networks) {
  for (int i = 0; i < 1'000; ++i)
    order_.enter(i, from("the flood's", std::to_string(i)));
  const auto before = begun_within(1s);
  EXPECT_FALSE(before.empty());
  order_.enter(-1, from("the owner's"));
  const auto begun = begun_within(50ms);
  EXPECT_TRUE(std::ranges::find(begun, -1) != begun.end());
}

TEST_F(turns, of_those_that_are_gone_are_not_counted) {
  for (int i = 0; i < 100; ++i) {
    order_.enter(i, from("here"));
    gone_.insert(i);
  }
  order_.enter(100, from("here"));
  EXPECT_EQ(begun_within(5ms), std::vector{100});
}

} // namespace
} // namespace troupe::internal
