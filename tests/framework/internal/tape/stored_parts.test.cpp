#include <troupe/framework/internal/tape/stored_parts.hpp>

#include <gtest/gtest.h>

#include "tape_support.hpp"

namespace troupe::internal {
namespace {

byte_vector message_with_frames() {
  byte_vector body;
  append_message_head(body, {.receiver = 3, .sender = 5});
  append_element(body, {.header_number = 1,
                        .frames = {{.place = frame_place::inline_, .size_bytes = 4},
                                   {.place = frame_place::stored,
                                    .size_bytes = 100,
                                    .object_index = 7,
                                    .object_generation = 2,
                                    .object_offset = 64},
                                   {.place = frame_place::chunks, .size_bytes = 9, .transfer = 1}}});
  const auto inline_bytes = tests::bytes_of("abcd");
  body.insert(body.end(), inline_bytes.begin(), inline_bytes.end());
  append_element(
      body, {.header_number = 1,
             .frames = {{.place = frame_place::stored, .size_bytes = 8, .object_index = 9, .object_generation = 1}}});
  return body;
}

TEST(stored_parts_test, a_message_has_the_frames_in_the_store) {
  EXPECT_EQ(stored_parts_of(packet_kind::message, 0, message_with_frames()),
            (std::vector<stored_part>{{7, 2, 64, 100}, {9, 1, 0, 8}}));
}

TEST(stored_parts_test, a_description_has_the_objects_that_both_ends_can_find) {
  byte_vector body;
  append_object_mention(body, {.what = object_mention::kind::stored, .handle = {.name = {5, 7, 2}, .size_bytes = 100}});
  append_object_mention(body,
                        {.what = object_mention::kind::counted, .handle = {.name = {5, 8, 2}, .size_bytes = 100}});
  append_object_mention(body, {.what = object_mention::kind::lost, .handle = {.name = {5, 9, 2}, .size_bytes = 100}});
  append_object_mention(body, {.what = object_mention::kind::stored, .handle = {.name = {5, 10, 1}, .size_bytes = 3}});
  EXPECT_EQ(stored_parts_of(packet_kind::handles, 0, body), (std::vector<stored_part>{{7, 2, 0, 100}, {10, 1, 0, 3}}));
}

TEST(stored_parts_test, a_message_names_the_frames_that_came_in_chunks) {
  EXPECT_EQ(transfers_of(0, message_with_frames()), (std::vector<std::uint64_t>{1}));
}

TEST(stored_parts_test, other_packets_have_none) {
  EXPECT_TRUE(stored_parts_of(packet_kind::chunk, 0, message_with_frames()).empty());
  EXPECT_TRUE(stored_parts_of(packet_kind::value, 0, message_with_frames()).empty());
}

TEST(stored_parts_test, a_packet_that_is_cut_has_those_before_the_cut) {
  const auto whole = message_with_frames();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const auto parts = stored_parts_of(packet_kind::message, 0, bytes_view{whole}.first(size));
    EXPECT_LE(parts.size(), 2u) << size;
    if (!parts.empty()) {
      EXPECT_EQ(parts[0], (stored_part{7, 2, 64, 100})) << size;
    }
  }
}

} // namespace
} // namespace troupe::internal
