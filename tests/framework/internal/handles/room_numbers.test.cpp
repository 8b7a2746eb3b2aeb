#include <troupe/framework/internal/handles/room_numbers.hpp>

#include <gtest/gtest.h>

namespace troupe::internal::handles {
namespace {

TEST(room_numbers, have_numbers_that_are_not_used_again) {
  room_numbers rooms;
  const auto first = rooms.open({1, 1});
  EXPECT_EQ(rooms.find(first), (reference{1, 1}));
  rooms.close(first);
  EXPECT_FALSE(rooms.find(first));
  EXPECT_NE(rooms.open({1, 1}), first);
  EXPECT_EQ(rooms.size(), 1u);
}

TEST(room_numbers, of_number_0_are_none) {
  room_numbers rooms;
  EXPECT_NE(rooms.open({1, 1}), 0u);
  EXPECT_FALSE(rooms.find(0));
}

} // namespace
} // namespace troupe::internal::handles
