#include <troupe/framework/internal/handles/unfinished_parts.hpp>

#include "some_books.hpp"

namespace troupe::internal::handles {
namespace {

class objects_to_be_finished : public part_of_a_ledger {
protected:
  objects_to_be_finished() : part_(import(link(5, b), x)), outer_(unfinished_.add(5, std::vector{part_})) {}
  void TearDown() override { EXPECT_EQ(unfinished_.broken_invariant(), ""); }

  unfinished_parts unfinished_{books_};
  reference part_, outer_;
};

TEST_F(objects_to_be_finished, keep_what_they_capture) {
  EXPECT_EQ(at(part_).references, 2u);
  EXPECT_EQ(at(outer_).references, 1u);
  EXPECT_TRUE(unfinished_.contains(outer_));
  EXPECT_EQ(unfinished_.size_bytes(), 5u);
  unfinished_.forget_parts(outer_);
  unfinished_.forget_parts(outer_);
  EXPECT_FALSE(unfinished_.contains(outer_));
  EXPECT_EQ(unfinished_.size_bytes(), 0u);
  EXPECT_EQ(at(part_).references, 1u);
  EXPECT_EQ(wanted(), words{"forget unfinished"});
}

TEST_F(objects_to_be_finished, are_lost_with_one_of_those) {
  EXPECT_EQ(unfinished_.lost_part(outer_), nullptr);
  at(part_).loss.source = 5;
  books_.entries.enter(part_, entry_state::lost);
  ASSERT_NE(unfinished_.lost_part(outer_), nullptr);
  EXPECT_EQ(unfinished_.lost_part(outer_)->source, 5u);
  unfinished_.forget_parts(outer_);
}

TEST_F(objects_to_be_finished, are_looked_at_when_one_of_those_is) {
  while (books_.entries.take_touched())
    continue;
  unfinished_.touch_outer_of(part_);
  EXPECT_EQ(books_.entries.take_touched(), outer_);
}

} // namespace
} // namespace troupe::internal::handles
