// Goal: values are kept while somebody asks for them, in bounded number, and each asker learns what is new and what was
// lost.
#include <troupe/framework/internal/watch/recent_list.hpp>

#include <gtest/gtest.h>

namespace troupe::internal {
namespace {

struct numbered {
  std::uint64_t number = 0;
  int value = 0;
};

class recent_values : public testing::Test {
protected:
  using list = recent_list<numbered>;

  void add(int value) { list_.add({.value = value}); }
  std::vector<int> values_after(std::uint64_t after) {
    std::vector<int> result;
    for (const auto& each : list_.ask(after, now_).values)
      result.push_back(each.value);
    return result;
  }
  std::uint64_t lost_after(std::uint64_t after) { return list_.ask(after, now_).lost; }

  list list_{3};
  list::clock::time_point now_ = list::clock::now();
};

TEST_F(recent_values, are_not_kept_before_the_first_question) {
  add(1);
  EXPECT_FALSE(list_.is_kept());
  EXPECT_EQ(values_after(0), std::vector<int>{});
  EXPECT_TRUE(list_.is_kept());
  add(2);
  EXPECT_EQ(values_after(0), std::vector{2});
}

TEST_F(recent_values, have_numbers_by_which_an_asker_gets_only_what_is_new) {
  static_cast<void>(values_after(0));
  add(1);
  add(2);
  EXPECT_EQ(values_after(1), std::vector{2});
  EXPECT_EQ(values_after(2), std::vector<int>{});
  add(3);
  EXPECT_EQ(values_after(2), std::vector{3});
}

TEST_F(recent_values, are_dropped_for_newer_ones_and_counted) {
  static_cast<void>(values_after(0));
  for (int i = 1; i <= 5; ++i)
    add(i);
  EXPECT_EQ(values_after(0), (std::vector{3, 4, 5}));
  EXPECT_EQ(lost_after(0), 2u);
  EXPECT_EQ(lost_after(1), 1u);
  EXPECT_EQ(lost_after(2), 0u);
  EXPECT_EQ(lost_after(5), 0u);
}

TEST_F(recent_values, are_dropped_when_nobody_asks) {
  static_cast<void>(values_after(0));
  add(1);
  EXPECT_TRUE(list_.drop_unless_asked_since(now_));
  EXPECT_EQ(values_after(0), std::vector{1});
  EXPECT_FALSE(list_.drop_unless_asked_since(now_ + std::chrono::nanoseconds{1}));
  EXPECT_FALSE(list_.is_kept());
  add(2);
  EXPECT_EQ(values_after(0), std::vector<int>{});
}

TEST_F(recent_values, go_on_with_higher_numbers_when_they_are_kept_again) {
  static_cast<void>(values_after(0));
  add(1);
  EXPECT_FALSE(list_.drop_unless_asked_since(now_ + std::chrono::nanoseconds{1}));
  static_cast<void>(values_after(0));
  EXPECT_EQ(lost_after(0), 0u) << "nobody has asked for them";
  add(3);
  EXPECT_EQ(list_.ask(1, now_).values.at(0).number, 2u);
}

TEST_F(recent_values, are_not_lost_to_an_asker_whose_number_is_too_high) {
  static_cast<void>(values_after(0));
  add(1);
  EXPECT_EQ(values_after(700), std::vector<int>{});
  EXPECT_EQ(lost_after(700), 0u);
}

} // namespace
} // namespace troupe::internal
