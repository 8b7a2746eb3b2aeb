#include <troupe/framework/internal/handles/entry_table.hpp>

#include "some_books.hpp"

namespace troupe::internal::handles {
namespace {

class entries : public part_of_a_ledger {
protected:
  entry_table& table_ = books_.entries;
};

TEST_F(entries, of_one_place_are_one_which_is_held_once) {
  const auto first = table_.refer_to(x);
  EXPECT_EQ(table_.refer_to(x), first);
  EXPECT_NE(table_.refer_to(y), first);
  EXPECT_EQ(at(first).references, 2u);
  EXPECT_EQ(objects_.holds.at(x), 1u);
}

TEST_F(entries, let_go_of_their_object_when_they_are_freed) {
  const auto what = table_.refer_to(x);
  table_.unrefer(what);
  EXPECT_FALSE(at(what).wanted());
  table_.free(what);
  EXPECT_EQ(table_.find(what), nullptr);
  EXPECT_TRUE(objects_.holds.empty());
  EXPECT_NE(table_.refer_to(x), what);
}

TEST_F(entries, use_a_number_again_with_another_generation) {
  const auto first = table_.make(entry_state::remote);
  const auto second = table_.make(entry_state::remote);
  table_.free(first);
  const auto third = table_.make(entry_state::remote);
  EXPECT_EQ(third.index, first.index);
  EXPECT_NE(third, first);
  EXPECT_EQ(table_.find(first), nullptr);
  EXPECT_NE(table_.find(second), nullptr);
}

TEST_F(entries, shrink_to_those_that_last_and_reuse_no_name) {
  const auto first = table_.make(entry_state::remote);
  const auto second = table_.make(entry_state::remote);
  table_.free(second);
  EXPECT_EQ(table_.size(), 1u);
  table_.free(first);
  EXPECT_EQ(table_.size(), 0u);
  EXPECT_NE(table_.make(entry_state::remote), first);
  EXPECT_NE(table_.make(entry_state::remote), second);
}

TEST_F(entries, are_looked_at_once_however_often_they_are_touched) {
  const auto first = table_.make(entry_state::remote);
  const auto second = table_.make(entry_state::remote);
  for (auto each : {first, second, first})
    table_.touch(each);
  EXPECT_EQ(table_.take_touched(), second);
  EXPECT_EQ(table_.take_touched(), first);
  EXPECT_FALSE(table_.take_touched());
  table_.touch(first);
  EXPECT_TRUE(table_.has_touched());
}

TEST_F(entries, that_have_moved_are_found_and_follow_when_that_moves) {
  const auto first = table_.make(entry_state::remote);
  const auto second = table_.make(entry_state::remote);
  const auto third = table_.refer_to(x);
  table_.refer(first);
  table_.refer(second);
  table_.move(first, second);
  EXPECT_EQ(table_.resolve(first), second);
  EXPECT_EQ(at(second).dependents, 1u);
  EXPECT_EQ(at(second).references, 0u);
  table_.move(second, third);
  EXPECT_EQ(at(first).target, third);
  EXPECT_EQ(at(second).dependents, 0u);
  EXPECT_EQ(at(third).dependents, 2u);
  EXPECT_EQ(table_.moved_to(third), (std::vector{first, second}));
  while (table_.take_touched())
    continue;
  table_.free(second);
  EXPECT_EQ(table_.moved_to(third), std::vector{first});
  EXPECT_EQ(table_.take_touched(), third); // It may have become unwanted.
  EXPECT_EQ(table_.broken_invariant(), "");
}

} // namespace
} // namespace troupe::internal::handles
