// The bytes that circles of shared pointers may keep alive together.
#include <troupe/serializers/extend/circle_account.hpp>

#include <gtest/gtest.h>

namespace {

using troupe::circle_account;

TEST(circle_accounts, count_a_payload_until_none_of_its_circles_lives) {
  circle_account account(100'000);
  auto one = std::make_shared<int>(1);
  auto other = std::make_shared<int>(2);
  account.keep({one, other}, 60'000);
  EXPECT_EQ(account.kept_bytes(), 60'000U);
  EXPECT_EQ(account.room(), 40'000U);
  one.reset();
  EXPECT_EQ(account.kept_bytes(), 60'000U);
  other.reset();
  EXPECT_EQ(account.kept_bytes(), 0U);
  EXPECT_EQ(account.room(), 100'000U);
}

TEST(circle_accounts, count_each_payload_by_itself) {
  circle_account account(100'000);
  auto one = std::make_shared<int>(1);
  const auto other = std::make_shared<int>(2);
  account.keep({one}, 10'000);
  account.keep({other}, 20'000);
  one.reset();
  EXPECT_EQ(account.kept_bytes(), 20'000U);
}

TEST(circle_accounts, count_something_for_the_smallest_payload_and_have_no_room_below_nothing) {
  circle_account account(5'000);
  const auto circle = std::make_shared<int>(1);
  account.keep({circle}, 1);
  EXPECT_EQ(account.room(), 5'000U - 4'096U);
  account.keep({circle}, 1);
  EXPECT_EQ(account.room(), 0U);
}

} // namespace
