#include <troupe/framework/internal/wire/transfers.hpp>

#include <algorithm>

#include <gtest/gtest.h>

#include "bytes.hpp"

namespace troupe::internal {
namespace {

using tests::bytes_of;
using tests::text_of;

class bounded_transfers : public testing::Test {
protected:
  bool begin(std::uint64_t number, std::uint64_t total, std::string_view bytes) {
    return transfers_.add_chunk({number, total}, true, bytes_of(bytes)).has_value();
  }
  bool go_on(std::uint64_t number, std::string_view bytes) {
    return transfers_.add_chunk({number, 0}, false, bytes_of(bytes)).has_value();
  }
  std::string claim(std::uint64_t number, std::uint64_t size) {
    auto whole = transfers_.claim(number, size);
    return whole ? text_of(whole->bytes()) : "refused";
  }

  transfers transfers_{{.frame_bytes_max = 100, .total_bytes_max = 150, .count_max = 3}};
};

TEST_F(bounded_transfers, chunks_join_in_order_and_interleave_with_others) {
  EXPECT_TRUE(begin(1, 6, "abc"));
  EXPECT_TRUE(begin(2, 2, "xy"));
  EXPECT_TRUE(go_on(1, "def"));
  EXPECT_EQ(claim(1, 6), "abcdef");
  EXPECT_EQ(claim(2, 2), "xy");
}

TEST_F(bounded_transfers, an_empty_frame_passes) {
  EXPECT_TRUE(begin(1, 0, ""));
  EXPECT_EQ(claim(1, 0), "");
}

TEST_F(bounded_transfers, numbers_may_reach_their_end_and_begin_again) {
  std::uint64_t number = UINT64_MAX - 1;
  for (int i = 0; i < 4; ++i, ++number) {
    EXPECT_TRUE(begin(number, 4, "ab"));
    EXPECT_TRUE(begin(number + 1, 2, "xy"));
    EXPECT_TRUE(go_on(number, "cd"));
    EXPECT_EQ(claim(number, 4), "abcd");
    EXPECT_EQ(claim(number + 1, 2), "xy");
  }
}

TEST_F(bounded_transfers, a_frame_is_claimed_once_and_only_whole) {
  EXPECT_TRUE(begin(1, 6, "abc"));
  EXPECT_EQ(claim(1, 6), "refused");
  EXPECT_TRUE(go_on(1, "def"));
  EXPECT_EQ(claim(1, 5), "refused");
  EXPECT_EQ(claim(1, 6), "abcdef");
  EXPECT_EQ(claim(1, 6), "refused");
}

TEST_F(bounded_transfers, more_bytes_than_announced_are_refused) {
  EXPECT_TRUE(begin(1, 3, "ab"));
  EXPECT_FALSE(go_on(1, "cd"));
}

TEST_F(bounded_transfers, chunks_without_bytes_are_refused) {
  EXPECT_TRUE(begin(1, 3, "ab"));
  EXPECT_FALSE(go_on(1, ""));
}

TEST_F(bounded_transfers, a_transfer_that_has_not_begun_or_begins_twice_is_refused) {
  EXPECT_FALSE(go_on(1, "a"));
  EXPECT_TRUE(begin(1, 3, "a"));
  EXPECT_FALSE(begin(1, 3, "a"));
}

TEST_F(bounded_transfers, memory_is_bounded_before_it_is_taken) {
  EXPECT_FALSE(begin(1, 101, "a"));
  EXPECT_FALSE(begin(1, UINT64_MAX, "a"));
  EXPECT_TRUE(begin(2, 100, "a"));
  EXPECT_FALSE(begin(3, 51, "a"));
  EXPECT_TRUE(begin(4, 50, "a"));
}

TEST_F(bounded_transfers, a_chunk_may_be_filled_where_it_stays) {
  auto place = transfers_.begin_chunk({1, 6}, true, bytes_of("a"), 4);
  ASSERT_TRUE(place);
  ASSERT_EQ(place->rest.size(), 3u);
  std::ranges::copy(bytes_of("bcd"), place->rest.begin());
  EXPECT_TRUE(go_on(1, "ef"));
  EXPECT_EQ(claim(1, 6), "abcdef");
}

TEST_F(bounded_transfers, a_place_has_the_bounds_of_its_frame) {
  EXPECT_FALSE(transfers_.begin_chunk({1, 101}, true, {}, 10)) << "a frame that is too large";
  EXPECT_FALSE(transfers_.begin_chunk({1, 6}, true, {}, 7)) << "a chunk larger than its frame";
  EXPECT_FALSE(transfers_.begin_chunk({2, 0}, false, {}, 1)) << "a frame that has not begun";
}

TEST_F(bounded_transfers, a_place_outlives_the_transfers_that_gave_it) {
  auto place = transfers_.begin_chunk({1, 6}, true, {}, 6);
  ASSERT_TRUE(place);
  transfers_.clear();
  std::ranges::fill(place->rest, std::byte{1});
  EXPECT_EQ(transfers_.living_bytes(), 6u);
  *place = {};
  EXPECT_EQ(transfers_.living_bytes(), 0u);
}

TEST_F(bounded_transfers, claiming_gives_the_room_back) {
  EXPECT_TRUE(begin(1, 100, std::string(100, 'a')));
  EXPECT_EQ(claim(1, 100), std::string(100, 'a'));
  EXPECT_TRUE(begin(2, 100, "a"));
}

TEST_F(bounded_transfers, what_lives_is_counted_as_long_as_anybody_keeps_it) {
  EXPECT_TRUE(begin(1, 4, "four"));
  EXPECT_TRUE(begin(2, 100, "a"));
  auto kept = transfers_.claim(1, 4);
  ASSERT_TRUE(kept);
  EXPECT_EQ(transfers_.living_bytes(), 104u);
  transfers_.clear();
  EXPECT_EQ(transfers_.living_bytes(), 4u);
  auto part = kept->slice(1, 2);
  kept = frame{};
  EXPECT_EQ(transfers_.living_bytes(), 4u); // A slice keeps the whole frame.
  part = {};
  EXPECT_EQ(transfers_.living_bytes(), 0u);
}

TEST_F(bounded_transfers, their_number_is_bounded) {
  for (std::uint64_t number : {1, 2, 3})
    EXPECT_TRUE(begin(number, 1, "a"));
  EXPECT_FALSE(begin(4, 1, "a"));
}

} // namespace
} // namespace troupe::internal
