#include <troupe/framework/internal/objects/room_book.hpp>

#include <gtest/gtest.h>

namespace troupe::tests {
namespace {

using namespace internal;

class room_book_test : public testing::Test {
protected:
  void fill(handles::room_id id, std::uint64_t size_bytes) {
    rooms_.add(id);
    ASSERT_TRUE(rooms_.reserve(id, size_bytes));
    rooms_.fill(id);
  }

  room_book rooms_{100};
};

TEST_F(room_book_test, reserves_half_of_the_store_for_what_is_being_filled) {
  fill(1, 30);
  rooms_.add(2);
  EXPECT_FALSE(rooms_.reserve(2, 21));
  rooms_.add(3);
  EXPECT_TRUE(rooms_.reserve(3, 20));
  EXPECT_EQ(rooms_.reserved_bytes(), 50u);
}

TEST_F(room_book_test, lets_one_room_of_any_size_be_filled) {
  rooms_.add(1);
  EXPECT_TRUE(rooms_.reserve(1, UINT64_MAX));
  EXPECT_EQ(rooms_.reserved_bytes(), 100u) << "no more than there is";
  rooms_.add(2);
  EXPECT_FALSE(rooms_.reserve(2, 1));
  rooms_.give_back(1);
  EXPECT_TRUE(rooms_.reserve(2, 1));
}

TEST_F(room_book_test, needs_no_reserve_for_what_has_all_its_bytes) {
  fill(1, 50);
  EXPECT_EQ(rooms_.reserved_bytes(), 50u);
  rooms_.filled(1);
  EXPECT_EQ(rooms_.reserved_bytes(), 0u);
  EXPECT_TRUE(rooms_.find(1)) << "it may wait for what it captures";
}

TEST_F(room_book_test, gives_back_what_a_dropped_room_has_reserved) {
  fill(1, 50);
  EXPECT_TRUE(rooms_.erase(1));
  EXPECT_EQ(rooms_.reserved_bytes(), 0u);
  EXPECT_FALSE(rooms_.erase(1));
  EXPECT_EQ(rooms_.find(1), nullptr);
}

TEST_F(room_book_test, reserves_nothing_for_what_is_left_to_others) {
  rooms_.add(1);
  rooms_.leave(1, 77);
  EXPECT_EQ(rooms_.find(1)->writer, 77u);
  EXPECT_EQ(rooms_.reserved_bytes(), 0u);
  rooms_.take_up(1);
  EXPECT_TRUE(rooms_.reserve(1, 50));
}

TEST_F(room_book_test, tells_all_rooms_why_the_one_before_them_finds_no_place) {
  rooms_.add(1);
  ASSERT_TRUE(rooms_.reserve(1, 50));
  rooms_.note_full(1, node_error{node_errc::store_full, "all is pinned"});
  EXPECT_EQ(rooms_.full_now()->message(), "all is pinned");
  EXPECT_EQ(rooms_.find(1)->why_full->message(), "all is pinned");
  rooms_.fill(1);
  EXPECT_FALSE(rooms_.full_now()) << "it has found one";
}

} // namespace
} // namespace troupe::tests
