// The byte examples of framework/tape-format.md, and what a reader does with unknown and invalid bytes.
#include <troupe/framework/internal/tape/tape_format.hpp>

#include <gtest/gtest.h>

#include "../bytes.hpp"
#include "tape_support.hpp"

namespace troupe::internal {
namespace {

using tests::bytes_of;
using tests::from_hex;
using tests::to_hex;

constexpr tape_head golden_head{
    .number = 2, .recording = 0x1122334455667788, .file = 0x0102030405060708, .started_at = 1'700'000'000'000'000'000};

template <class Record>
std::string hex_of(const Record& record) {
  byte_vector out;
  append_tape_record(out, record);
  return to_hex(out);
}

/// The record that these bytes are, as a text; empty if they are none.
std::string read_of(std::string_view hex) {
  const auto bytes = from_hex(hex);
  packet_reader in{bytes};
  const auto record = read_tape_record(in);
  EXPECT_EQ(record.has_value(), in.ok());
  return record ? tests::shown(*record) : "";
}

TEST(tape_format, the_head_of_a_file_has_its_golden_bytes) {
  const auto bytes = tape_head_of(golden_head);
  EXPECT_EQ(to_hex(bytes), "54 52 4f 55 50 45 54 50 01 00 00 00 02 00 00 00 88 77 66 55 44 33 22 11 08 07 06 05 04 03 "
                           "02 01 00 00 2a 36 fe 9c 97 17 00 00 00 00 67 45 0b 55");
  EXPECT_EQ(read_tape_head(bytes), golden_head);
}

TEST(tape_format, a_head_with_any_flipped_bit_is_refused_or_of_another_version) {
  const auto good = tape_head_of(golden_head);
  for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
    auto bytes = good;
    bytes[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    const auto read = read_tape_head(bytes);
    EXPECT_TRUE(!read || read->version != tape_version) << bit;
  }
}

TEST(tape_format, a_block_has_its_golden_bytes) {
  byte_vector out;
  append_tape_block(out, {.file = 0x0102030405060708, .number = 3}, bytes_of("abc"));
  EXPECT_EQ(to_hex(out), "b1 6f 7c a4 54 41 50 45 08 07 06 05 04 03 02 01 03 00 00 00 03 00 00 00 03 00 00 00 00 00 00 "
                         "00 b7 3f 4b 36 85 38 d0 7b 61 62 63");
}

TEST(tape_format, a_block_is_compressed_if_that_makes_it_smaller) {
  const std::string text(10'000, 'a');
  for (const auto codec : {tape_codec::none, tape_codec::lz4, tape_codec::zstd}) {
    for (const auto& content : {text, std::string{"abc"}}) {
      byte_vector out;
      append_tape_block(out, {.file = 7, .codec = codec}, bytes_of(content));
      const auto head = read_tape_block_head(std::span{out}.first<tape_block_head_bytes>(), 7);
      ASSERT_TRUE(head);
      EXPECT_EQ(head->codec, content == text ? codec : tape_codec::none);
      EXPECT_EQ(head->stored_bytes < head->body_bytes, head->codec != tape_codec::none);
      byte_vector body;
      ASSERT_TRUE(restore_tape_block(*head, bytes_view{out}.subspan(tape_block_head_bytes), body));
      EXPECT_EQ(tests::text_of(body), content);
    }
  }
}

TEST(tape_format, a_block_of_another_file_or_beyond_its_bounds_is_none) {
  byte_vector out;
  append_tape_block(out, {.file = 7}, bytes_of("abc"));
  EXPECT_TRUE(read_tape_block_head(std::span{out}.first<tape_block_head_bytes>(), 7));
  EXPECT_FALSE(read_tape_block_head(std::span{out}.first<tape_block_head_bytes>(), 8));
  for (std::size_t bit = 0; bit < tape_block_head_bytes * 8; ++bit) {
    auto bytes = out;
    bytes[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    EXPECT_FALSE(read_tape_block_head(std::span{bytes}.first<tape_block_head_bytes>(), 7)) << bit;
  }
}

TEST(tape_format, records_have_their_golden_bytes) {
  EXPECT_EQ(hex_of(tape_recorder_named{.node = "cup", .software = "0.1.0"}), "01 0a 03 63 75 70 05 30 2e 31 2e 30");
  EXPECT_EQ(hex_of(tape_link_began{.link = 1,
                                   .at = 300,
                                   .recorder_name = "a",
                                   .peer_name = "b",
                                   .recorder_address = {},
                                   .peer_address = "unix://@b",
                                   .transport = "unix",
                                   .compression = "none",
                                   .sends = {"typed"},
                                   .accepts = {"typed", "json"},
                                   .features = {}}),
            "02 32 01 00 ac 02 01 01 61 01 62 00 09 75 6e 69 78 3a 2f 2f 40 62 04 75 6e 69 78 04 6e 6f 6e 65 01 05 74 "
            "79 70 65 64 02 05 74 79 70 65 64 04 6a 73 6f 6e 00");
  EXPECT_EQ(hex_of(tape_packet{.link = 1,
                               .writer = tape_side::peer,
                               .is_repeated = true,
                               .at = 2,
                               .kind = packet_kind::signature,
                               .detail = 0,
                               .body = bytes_of("xyz")}),
            "03 08 01 03 02 04 00 78 79 7a");
  EXPECT_EQ(hex_of(tape_actor_named{.link = 1, .exporter = tape_side::peer, .number = 4, .name = "cup"}),
            "04 07 01 01 04 03 63 75 70");
  EXPECT_EQ(hex_of(tape_object{.link = 1,
                               .at = 2,
                               .store = 3,
                               .index = 4,
                               .generation = 5,
                               .size_bytes = 6,
                               .offset = 1,
                               .bytes = bytes_of("ab")}),
            "05 0a 01 02 03 04 05 00 06 01 61 62");
  EXPECT_EQ(hex_of(tape_dropped{.link = 1,
                                .writer = tape_side::peer,
                                .why = tape_loss::write_error,
                                .first_at = 2,
                                .last_at = 3,
                                .packets = 4,
                                .messages = 5,
                                .bytes = 6,
                                .text = "no"}),
            "06 0b 01 01 02 02 03 04 05 06 02 6e 6f");
  EXPECT_EQ(hex_of(tape_link_ended{.link = 1, .at = 2, .reason = "no"}), "07 05 01 02 02 6e 6f");
  EXPECT_EQ(hex_of(tape_ended{.at = 2, .why = tape_end_reason::continued}), "08 02 02 02");
}

TEST(tape_format, records_are_read_as_they_were_written) {
  EXPECT_EQ(read_of("01 0a 03 63 75 70 05 30 2e 31 2e 30"), "by cup");
  EXPECT_EQ(read_of("03 08 01 03 02 04 00 78 79 7a"), "again <1 kind 4: xyz");
  EXPECT_EQ(read_of("04 07 01 01 04 03 63 75 70"), "actor 4 is cup");
  EXPECT_EQ(read_of("06 0b 01 01 02 02 03 04 05 06 02 6e 6f"), "dropped 4 packets, 5 messages, 6 bytes, why 2");
  EXPECT_EQ(read_of("07 05 01 02 02 6e 6f"), "link 1 ended: no");
  EXPECT_EQ(read_of("08 02 02 02"), "ended 2");
}

TEST(tape_format, records_and_fields_of_later_versions_are_passed_over) {
  EXPECT_EQ(read_of("09 02 ff ff"), "unknown 9");
  EXPECT_EQ(read_of("ff 00"), "unknown 255");
  EXPECT_EQ(read_of("07 07 01 02 02 6e 6f ff ff"), "link 1 ended: no");
  EXPECT_EQ(read_of("08 02 02 63"), "ended 99");
}

TEST(tape_format, a_record_that_is_cut_is_refused) {
  for (const std::string_view whole : {"01 0a 03 63 75 70 05 30 2e 31 2e 30", "03 08 01 03 02 04 00 78 79 7a",
                                       "06 0b 01 01 02 02 03 04 05 06 02 6e 6f", "07 05 01 02 02 6e 6f", "08 02 02 02"})
    for (std::size_t size = 2; size + 1 < whole.size(); size += 3)
      EXPECT_EQ(read_of(whole.substr(0, size)), "") << whole << " cut after " << size;
}

TEST(tape_format, a_record_that_contradicts_itself_is_refused) {
  EXPECT_EQ(read_of("03 05 01 04 02 04 00"), "") << "an unknown flag";
  EXPECT_EQ(read_of("05 0a 01 02 03 04 05 00 06 07 61 62"), "") << "bytes beyond the object";
  EXPECT_EQ(read_of("05 0a 01 02 03 04 05 02 06 01 61 62"), "") << "an unknown state";
}

} // namespace
} // namespace troupe::internal
