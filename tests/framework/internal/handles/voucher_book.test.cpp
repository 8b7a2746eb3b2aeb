#include <troupe/framework/internal/handles/voucher_book.hpp>

#include <gtest/gtest.h>

namespace troupe::internal::handles {
namespace {

class vouchers : public testing::Test {
protected:
  static constexpr object_id x{1, 1, 1};
  static constexpr object_id y{1, 2, 1};
  static constexpr node_name c{3, 1};
  static constexpr node_name d{4, 1};

  void TearDown() override { EXPECT_EQ(book_.broken_invariant(), ""); }

  voucher_book book_{{.of_export = 2, .of_link = 3}};
};

TEST_F(vouchers, are_good_for_one_name_one_beneficiary_and_one_token) {
  book_.add({x, c, 7, 1});
  EXPECT_EQ(book_.find(x, c, 7), (voucher{x, c, 7, 1}));
  EXPECT_FALSE(book_.find(y, c, 7));
  EXPECT_FALSE(book_.find(x, d, 7));
  EXPECT_FALSE(book_.find(x, c, 8));
}

TEST_F(vouchers, are_used_once) {
  book_.add({x, c, 7, 1});
  book_.drop(*book_.find(x, c, 7));
  EXPECT_FALSE(book_.find(x, c, 7));
  EXPECT_EQ(book_.size(), 0u);
}

TEST_F(vouchers, count_once_however_often_they_are_given) {
  book_.add({x, c, 7, 1});
  book_.add({x, c, 7, 1});
  EXPECT_EQ(book_.size(), 1u);
}

TEST_F(vouchers, of_several_links_are_found_one_after_the_other) {
  book_.add({x, c, 7, 2});
  book_.add({x, c, 7, 1});
  EXPECT_EQ(book_.find(x, c, 7)->link, 1u);
  EXPECT_EQ(book_.find(x, c, 7, 1)->link, 2u);
  EXPECT_FALSE(book_.find(x, c, 7, 2));
}

TEST_F(vouchers, of_one_export_let_the_oldest_go) {
  for (std::uint64_t token : {1, 2, 3})
    book_.add({x, c, token, 1});
  EXPECT_FALSE(book_.find(x, c, 1));
  EXPECT_EQ(book_.size_of(1, x), 2u);
}

TEST_F(vouchers, for_one_node_take_nothing_from_another) {
  book_.add({x, d, 1, 1});
  book_.add({x, c, 2, 1});
  book_.add({x, c, 3, 1});
  EXPECT_TRUE(book_.find(x, d, 1));
  EXPECT_FALSE(book_.find(x, c, 2));
}

TEST_F(vouchers, of_one_link_let_the_oldest_go) {
  for (std::uint32_t name : {1, 2, 3, 4})
    book_.add({{1, name, 1}, c, 1, 1});
  EXPECT_FALSE(book_.find({1, 1, 1}, c, 1));
  EXPECT_EQ(book_.size(), 3u);
}

TEST_F(vouchers, go_with_the_export_that_they_are_of) {
  book_.add({x, c, 1, 1});
  book_.add({x, d, 2, 1});
  book_.add({y, c, 3, 1});
  book_.add({x, c, 4, 2});
  book_.drop_all_of(1, x);
  EXPECT_EQ(book_.size_of(1, x), 0u);
  EXPECT_EQ(book_.size(), 2u);
  book_.drop_all_of(1, x);
}

TEST_F(vouchers, follow_an_export_to_another_link_as_far_as_there_is_room) {
  book_.add({x, c, 1, 1});
  book_.add({x, c, 2, 1});
  book_.add({x, c, 3, 2});
  book_.move_all_of(1, x, 2);
  EXPECT_EQ(book_.size_of(1, x), 0u);
  EXPECT_EQ(book_.size_of(2, x), 2u);
  EXPECT_TRUE(book_.find(x, c, 2)); // The newest voucher that was moved along.
}

} // namespace
} // namespace troupe::internal::handles
