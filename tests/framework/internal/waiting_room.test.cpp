#include <troupe/framework/internal/trust/waiting_room.hpp>

#include <random>
#include <set>

#include <gtest/gtest.h>

namespace troupe::internal {
namespace {

peer_source from(std::string wide, std::string middle = "a", std::string narrow = "a") {
  middle = wide + middle;
  narrow = middle + narrow;
  return {{std::move(wide), std::move(middle), std::move(narrow)}};
}

class waiting_room_of : public testing::Test {
protected:
  waiting_room<int> room(std::size_t peers_max) {
    return waiting_room<int>{peers_max, [this](std::size_t count) {
                               return std::uniform_int_distribution<std::size_t>{0, count - 1}(random_);
                             }};
  }

  std::mt19937_64 random_{42};
};

TEST_F(waiting_room_of, lets_in_as_many_as_it_holds) {
  auto three = room(3);
  for (int peer : {1, 2, 3})
    EXPECT_EQ(three.enter(peer, from("here")), std::nullopt);
  EXPECT_EQ(three.size(), 3u);
}

TEST_F(waiting_room_of, displaces_any_of_one_network_and_never_who_comes) {
  std::set<int> displaced;
  for (int attempt = 0; attempt < 200; ++attempt) {
    auto three = room(3);
    for (int peer : {1, 2, 3})
      EXPECT_EQ(three.enter(peer, from("here")), std::nullopt);
    displaced.insert(three.enter(4, from("here")).value());
    EXPECT_EQ(three.size(), 3u);
  }
  EXPECT_EQ(displaced, (std::set{1, 2, 3}));
}

TEST_F(waiting_room_of, has_room_again_when_one_has_left) {
  auto two = room(2);
  for (int peer : {1, 2})
    EXPECT_EQ(two.enter(peer, from("here")), std::nullopt);
  two.leave(1);
  two.leave(77); // This one does not wait.
  EXPECT_EQ(two.enter(3, from("here")), std::nullopt);
  EXPECT_NE(two.enter(4, from("here")), std::nullopt);
}

// Goal: a flood displaces only its own connections, whatever part of a network it controls. The connection of an owner
// from elsewhere stays.
TEST_F(waiting_room_of, keeps_the_owner_while_somebody_else_floods_it) {
  for (int width = 0; width < 3; ++width) {
    auto eight = room(8);
    EXPECT_EQ(eight.enter(0, from("the owner's")), std::nullopt);
    for (int peer = 1; peer < 1000; ++peer) {
      const auto name = std::to_string(peer % 64); // As many networks of that width.
      const auto flood = width == 0   ? from("the flood's")
                         : width == 1 ? from("the flood's", "a", name)
                                      : from("the flood's", name, name);
      EXPECT_NE(eight.enter(peer, flood), 0) << width;
    }
  }
}

TEST_F(waiting_room_of, keeps_the_owner_though_the_flood_comes_from_next_door) {
  auto eight = room(8);
  EXPECT_EQ(eight.enter(0, from("shared", "shared", "the owner's")), std::nullopt);
  for (int peer = 1; peer < 1000; ++peer)
    EXPECT_NE(eight.enter(peer, from("shared", "shared", "the flood's")), 0);
}

TEST_F(waiting_room_of, who_comes_counts_in_its_network) {
  auto two = room(2);
  EXPECT_EQ(two.enter(0, from("the owner's")), std::nullopt);
  EXPECT_EQ(two.enter(1, from("the flood's")), std::nullopt);
  for (int peer = 2; peer < 100; ++peer)
    EXPECT_EQ(two.enter(peer, from("the flood's")), peer - 1);
}

TEST_F(waiting_room_of, gives_up_one_of_the_largest_network_when_it_is_asked) {
  auto five = room(5);
  EXPECT_EQ(five.displace(), std::nullopt);
  EXPECT_EQ(five.enter(0, from("the owner's")), std::nullopt);
  for (int peer : {1, 2, 3})
    EXPECT_EQ(five.enter(peer, from("the flood's")), std::nullopt);
  for (int i = 0; i < 2; ++i)
    EXPECT_NE(five.displace(), 0);
  EXPECT_EQ(five.size(), 2u);
}

} // namespace
} // namespace troupe::internal
