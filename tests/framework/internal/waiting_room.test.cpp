#include <troupe/framework/internal/waiting_room.hpp>

#include <gtest/gtest.h>

namespace troupe::internal {
namespace {

TEST(waiting_room, lets_in_as_many_as_it_holds) {
  waiting_room<int> room{3};
  for (int peer : {1, 2, 3})
    EXPECT_EQ(room.enter(peer, "here"), std::nullopt);
  EXPECT_EQ(room.size(), 3u);
}

TEST(waiting_room, displaces_the_oldest) {
  waiting_room<int> room{3};
  for (int peer : {1, 2, 3})
    EXPECT_EQ(room.enter(peer, "here"), std::nullopt);
  EXPECT_EQ(room.enter(4, "here"), 1);
  EXPECT_EQ(room.enter(5, "here"), 2);
  EXPECT_EQ(room.size(), 3u);
}

TEST(waiting_room, has_room_again_when_one_has_left) {
  waiting_room<int> room{2};
  for (int peer : {1, 2})
    EXPECT_EQ(room.enter(peer, "here"), std::nullopt);
  room.leave(1);
  room.leave(77); // Does not wait.
  EXPECT_EQ(room.enter(3, "here"), std::nullopt);
  EXPECT_EQ(room.enter(4, "here"), 2);
}

TEST(waiting_room, keeps_the_owner_while_somebody_else_floods_it) {
  waiting_room<int> room{8};
  EXPECT_EQ(room.enter(0, "the owner's"), std::nullopt);
  for (int peer = 1; peer < 8; ++peer)
    EXPECT_EQ(room.enter(peer, "the flood's"), std::nullopt);
  for (int peer = 8; peer < 1000; ++peer)
    EXPECT_EQ(room.enter(peer, "the flood's"), peer - 7);
  EXPECT_EQ(room.enter(1000, "the owner's"), 993);
}

} // namespace
} // namespace troupe::internal
