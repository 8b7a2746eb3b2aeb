#include <troupe/framework/internal/objects/known_nodes.hpp>

#include <string>

#include <gtest/gtest.h>

#include <troupe/framework/internal/objects/ended_links.hpp>

namespace troupe::tests {
namespace {

using namespace internal;
using namespace std::chrono_literals;

const std::vector<std::byte> first_token(8, std::byte{1});
const std::vector<std::byte> other_token(8, std::byte{2});

TEST(known_nodes, are_recognized_by_their_first_token) {
  known_nodes known;
  EXPECT_TRUE(known.recognizes({1, 1}, first_token, 1h));
  EXPECT_TRUE(known.recognizes({1, 1}, first_token, 2h));
  EXPECT_FALSE(known.recognizes({1, 1}, other_token, 3h));
  EXPECT_TRUE(known.recognizes({1, 2}, other_token, 3h)) << "another incarnation is another node";
}

TEST(known_nodes, are_forgotten_only_where_they_are_many_and_long_gone) {
  known_nodes known;
  EXPECT_TRUE(known.recognizes({1, 1}, first_token, 1h));
  for (std::uint64_t i = 0; i < known_nodes::nodes_max - 1; ++i)
    EXPECT_TRUE(known.recognizes({2, i}, first_token, 1h + 9min));
  EXPECT_FALSE(known.recognizes({1, 1}, other_token, 1h + 10min));
  EXPECT_TRUE(known.recognizes({1, 1}, other_token, 1h + 11min)) << "who comes so late and was not seen is new";
  EXPECT_FALSE(known.recognizes({2, 0}, other_token, 1h + 11min));
}

TEST(ended_links, keep_the_first_reason_of_the_last_ones) {
  ended_links ended;
  ended.add(1, "first");
  ended.add(1, "second");
  EXPECT_EQ(*ended.find(1), "first");
  EXPECT_EQ(ended.find(2), nullptr);
  for (handles::link_number each = 2; each < 1 + ended_links::links_max; ++each)
    ended.add(each, "more");
  EXPECT_NE(ended.find(1), nullptr);
  ended.add(1000, "one too many");
  EXPECT_EQ(ended.find(1), nullptr);
  EXPECT_NE(ended.find(2), nullptr);
}

} // namespace
} // namespace troupe::tests
