#include <troupe/framework/internal/handles/mark_book.hpp>

#include <gtest/gtest.h>

namespace troupe::internal::handles {
namespace {

class marks : public testing::Test {
protected:
  static constexpr reference entry{1, 1};

  handle_descriptor sent(entry_trail& trail) {
    handle_descriptor result;
    book_.leave(entry, trail, result);
    return result;
  }

  std::uint64_t last_ = 0;
  mark_book book_{[this] { return last_++; }}; // 0 is not a mark.
};

TEST_F(marks, are_left_on_what_has_none) {
  entry_trail trail;
  const auto handle = sent(trail);
  EXPECT_EQ(handle.mark, 1u);
  EXPECT_EQ(handle.hops, 1u);
  EXPECT_EQ(book_.find(1), entry);
  EXPECT_EQ(sent(trail).mark, 1u);
  EXPECT_EQ(book_.size(), 1u);
}

TEST_F(marks, of_others_are_replaced_when_the_handle_has_come_twice_as_far) {
  for (std::uint32_t hops : {0, 1, 2, 3, 4, 5, 6, 7, 8}) {
    entry_trail trail{.mark = 99, .hops = hops};
    const bool is_replaced = hops + 1 == 1 || hops + 1 == 2 || hops + 1 == 4 || hops + 1 == 8;
    EXPECT_EQ(sent(trail).mark != 99, is_replaced) << hops;
  }
}

TEST_F(marks, are_forgotten_with_their_entry) {
  entry_trail trail;
  (void)sent(trail);
  book_.forget(trail);
  EXPECT_FALSE(book_.find(1));
  EXPECT_EQ(book_.size(), 0u);
}

} // namespace
} // namespace troupe::internal::handles
