// Goal: a walk in parts sees every entry of a table, also while the table changes, and each part is bounded.
#include <troupe/framework/internal/watch/table_walk.hpp>

#include <cstdint>
#include <set>
#include <unordered_map>

#include <gtest/gtest.h>

namespace troupe::internal {
namespace {

class a_table_walk : public testing::Test {
protected:
  /// Walks to the end. Calls `between` after each part.
  template <class Between>
  void walk(Between between) {
    while (walk_.next(table_, [&](const auto& each) {
      seen_.insert(each.first);
      ++looks_;
    }))
      between();
  }
  void add(std::uint64_t from, std::uint64_t to) {
    for (auto i = from; i < to; ++i)
      table_.emplace(i, 0);
  }

  std::unordered_map<std::uint64_t, int> table_;
  table_walk walk_;
  std::set<std::uint64_t> seen_;
  std::size_t looks_ = 0;
};

TEST_F(a_table_walk, over_nothing_ends_at_once) {
  walk([] { FAIL() << "there is no second part"; });
  EXPECT_EQ(looks_, 0U);
}

TEST_F(a_table_walk, sees_each_entry_once_in_bounded_parts) {
  add(0, 10'000);
  std::size_t before = 0;
  walk([&] {
    EXPECT_LE(looks_ - before, table_walk::part + 10); // And the rest of a bucket.
    before = looks_;
  });
  EXPECT_EQ(seen_.size(), 10'000U);
  EXPECT_EQ(looks_, 10'000U);
}

TEST_F(a_table_walk, sees_what_stays_while_other_entries_come_and_go) {
  add(0, 5'000);
  std::uint64_t next = 5'000;
  walk([&] {
    if (next < 40'000) // The table grows several times.
      add(next, next + 1'000);
    next += 1'000;
    table_.erase(next % 5'000 + 100'000);
    table_.erase(4'999);
  });
  for (std::uint64_t i = 0; i < 4'999; ++i)
    EXPECT_TRUE(seen_.contains(i)) << i;
}

TEST_F(a_table_walk, ends_when_the_table_becomes_empty) {
  add(0, 5'000);
  walk([&] { table_.clear(); });
  EXPECT_LE(looks_, table_walk::part + 10);
}

} // namespace
} // namespace troupe::internal
