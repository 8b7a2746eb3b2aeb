#include <troupe/framework/internal/tape/waiting_chunks.hpp>

#include <gtest/gtest.h>

#include "tape_support.hpp"

namespace troupe::internal {
namespace {

void add(waiting_chunks& to, std::uint64_t transfer, std::string_view bytes, bool is_first) {
  byte_vector head;
  append_chunk_head(head, {.transfer = transfer, .total_bytes = 1'000'000}, is_first);
  to.add(is_first ? chunk_flags::first : 0, head, tests::bytes_of(bytes));
}

/// The bytes of all chunks of the frame, without their heads.
std::string taken(waiting_chunks& from, std::uint64_t transfer) {
  std::string text;
  for (const auto& each : from.take(transfer)) {
    packet_reader in{each.body};
    static_cast<void>(read_chunk_head(in, (each.detail & chunk_flags::first) != 0));
    text += tests::text_of(in.rest());
  }
  return text;
}

TEST(waiting_chunks_test, frames_get_their_own_chunks_in_order_once) {
  waiting_chunks chunks{1'000};
  add(chunks, 1, "one ", true);
  add(chunks, 2, "two ", true);
  add(chunks, 1, "more", false);
  EXPECT_EQ(taken(chunks, 1), "one more");
  EXPECT_EQ(taken(chunks, 1), "");
  EXPECT_EQ(taken(chunks, 2), "two ");
}

TEST(waiting_chunks_test, a_chunk_without_its_beginning_is_not_kept) {
  waiting_chunks chunks{1'000};
  add(chunks, 1, "more", false);
  EXPECT_EQ(taken(chunks, 1), "");
}

TEST(waiting_chunks_test, a_number_that_begins_again_replaces_what_came_before) {
  waiting_chunks chunks{1'000};
  add(chunks, 1, "old", true);
  add(chunks, 1, "new", true);
  EXPECT_EQ(taken(chunks, 1), "new");
}

TEST(waiting_chunks_test, frames_that_began_first_make_room_for_others) {
  waiting_chunks chunks{1'000};
  add(chunks, 1, std::string(600, 'a'), true);
  add(chunks, 2, std::string(600, 'b'), true);
  add(chunks, 1, "more", false);
  EXPECT_EQ(taken(chunks, 1), "");
  EXPECT_EQ(taken(chunks, 2), std::string(600, 'b'));
}

TEST(waiting_chunks_test, a_frame_beyond_the_bound_keeps_none_and_harms_no_other) {
  waiting_chunks chunks{1'000};
  add(chunks, 1, std::string(600, 'a'), true);
  add(chunks, 1, std::string(600, 'a'), false);
  add(chunks, 1, "end", false);
  EXPECT_EQ(taken(chunks, 1), "");
  add(chunks, 2, std::string(900, 'b'), true);
  EXPECT_EQ(taken(chunks, 2), std::string(900, 'b'));
}

TEST(waiting_chunks_test, many_frames_without_a_message_are_bounded) {
  waiting_chunks chunks{1'000'000};
  for (std::uint64_t transfer = 1; transfer <= 10'000; ++transfer)
    add(chunks, transfer, "", true);
  EXPECT_TRUE(chunks.take(1).empty());
  EXPECT_EQ(chunks.take(10'000).size(), 1u);
}

TEST(waiting_chunks_test, bytes_that_are_no_chunk_are_not_kept) {
  waiting_chunks chunks{1'000};
  chunks.add(chunk_flags::first, {}, {});
  EXPECT_EQ(taken(chunks, 0), "");
}

} // namespace
} // namespace troupe::internal
