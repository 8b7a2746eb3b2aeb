// Whole tapes, and tapes that are cut, flipped, of another version or forged.
#include <troupe/framework/internal/tape/tape_reader.hpp>

#include <gtest/gtest.h>

#include "tape_support.hpp"

namespace troupe::internal {
namespace {

using tests::bytes_of;
using tests::read_all;

constexpr std::uint64_t file_id = 42;

/// Blocks of one record each: "a", "b", "c" ...
struct few_blocks {
  byte_vector bytes;
  std::vector<std::size_t> ends; // Of the head and of each block.

  explicit few_blocks(std::size_t count = 3) {
    const auto head = tape_head_of({.file = file_id});
    bytes.assign(head.begin(), head.end());
    ends.push_back(bytes.size());
    for (std::size_t i = 0; i < count; ++i) {
      const std::string text(1, static_cast<char>('a' + i));
      add(tests::packet_of(packet_kind::message, text), static_cast<std::uint32_t>(i));
    }
  }

  template <class Record>
  void add(const Record& record, std::uint32_t number, std::uint64_t file = file_id) {
    byte_vector body;
    append_tape_record(body, record);
    append_tape_block(bytes, {.file = file, .number = number}, body);
    ends.push_back(bytes.size());
  }
};

std::string message(char content) {
  return std::string{">1 kind 2: "} + content;
}

TEST(tape_reader, a_whole_tape_is_read_without_a_gap) {
  EXPECT_EQ(read_all(few_blocks{}.bytes), (std::vector{message('a'), message('b'), message('c')}));
}

TEST(tape_reader, a_tape_that_is_cut_at_any_byte_is_read_as_far_as_its_blocks_are_whole) {
  const few_blocks tape;
  for (std::size_t size = 0; size <= tape.bytes.size(); ++size) {
    const auto read = read_all(bytes_view{tape.bytes}.first(size));
    if (size < tape_head_bytes) {
      ASSERT_EQ(read.size(), 1u);
      EXPECT_TRUE(read[0].starts_with("refused at byte " + std::to_string(size))) << read[0];
      continue;
    }
    const auto whole =
        static_cast<std::size_t>(std::ranges::count_if(tape.ends, [&](auto end) { return end <= size; })) - 1;
    const auto is_at_end = std::ranges::count(tape.ends, size) != 0;
    ASSERT_EQ(read.size(), whole + (is_at_end ? 0 : 1)) << size;
    for (std::size_t i = 0; i < whole; ++i)
      EXPECT_EQ(read[i], message(static_cast<char>('a' + i)));
    const auto gap = "gap " + std::to_string(tape.ends[whole]) + '-' + std::to_string(size) + " the file ends within";
    EXPECT_TRUE(is_at_end || read.back().starts_with(gap)) << read.back();
  }
}

TEST(tape_reader, a_flipped_bit_costs_the_block_that_has_it_and_no_other) {
  const few_blocks tape;
  for (auto bit = tape_head_bytes * 8; bit < tape.bytes.size() * 8; ++bit) {
    auto bytes = tape.bytes;
    bytes[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    const auto damaged =
        static_cast<std::size_t>(std::ranges::count_if(tape.ends, [&](auto end) { return end <= bit / 8; })) - 1;
    const auto read = read_all(bytes);
    ASSERT_EQ(read.size(), 3u) << bit;
    for (std::size_t i = 0; i < 3; ++i) {
      const auto gap = "gap " + std::to_string(tape.ends[i]) + '-';
      EXPECT_TRUE(i == damaged ? read[i].starts_with(gap) : read[i] == message(static_cast<char>('a' + i)))
          << bit << ": " << read[i];
    }
  }
}

TEST(tape_reader, bytes_between_blocks_are_passed_over) {
  few_blocks tape{1};
  const std::string noise = "noise that is no block, however long it is";
  tape.bytes.insert(tape.bytes.end(), bytes_of(noise).begin(), bytes_of(noise).end());
  tape.add(tests::packet_of(packet_kind::message, "b"), 1);
  const auto read = read_all(tape.bytes);
  ASSERT_EQ(read.size(), 3u);
  EXPECT_EQ(read[1], "gap " + std::to_string(tape.ends[1]) + '-' + std::to_string(tape.ends[1] + noise.size())
                         + " there is no block of this tape");
  EXPECT_EQ(read[2], message('b'));
}

TEST(tape_reader, a_missing_block_is_a_gap_without_bytes) {
  few_blocks tape{1};
  tape.add(tests::packet_of(packet_kind::message, "d"), 3);
  const auto place = std::to_string(tape.ends[1]);
  EXPECT_EQ(read_all(tape.bytes),
            (std::vector{message('a'), "gap " + place + '-' + place + " blocks 1 to 2 are missing before this place",
                         message('d')}));
}

TEST(tape_reader, a_block_that_comes_again_is_passed_over) {
  few_blocks tape{2};
  tape.add(tests::packet_of(packet_kind::message, "a"), 0);
  const auto read = read_all(tape.bytes);
  ASSERT_EQ(read.size(), 3u);
  EXPECT_TRUE(read[2].find("block 0 is passed over, because block 2 was due") != std::string::npos) << read[2];
}

TEST(tape_reader, a_block_that_comes_again_and_is_cut_is_a_gap_within_the_file) {
  few_blocks tape{2};
  tape.add(tests::packet_of(packet_kind::message, "a"), 0);
  tape.bytes.pop_back();
  const auto read = read_all(tape.bytes);
  ASSERT_EQ(read.size(), 3u);
  EXPECT_TRUE(read[2].starts_with("gap " + std::to_string(tape.ends[2]) + '-' + std::to_string(tape.bytes.size())))
      << read[2];
}

TEST(tape_reader, a_block_of_another_tape_inside_a_damaged_one_is_not_read) {
  few_blocks inner{0};
  inner.add(tests::packet_of(packet_kind::message, "forged"), 1, file_id + 1);
  const auto forged = tests::text_of(bytes_view{inner.bytes}.subspan(tape_head_bytes));
  few_blocks outer{0};
  outer.add(tests::packet_of(packet_kind::message, forged), 0);
  outer.bytes[tape_head_bytes + tape_block_head_bytes + 3] ^= std::byte{1};
  outer.bytes[tape_head_bytes] ^= std::byte{1};
  for (const auto& each : read_all(outer.bytes))
    EXPECT_TRUE(each.starts_with("gap ")) << each;
}

TEST(tape_reader, a_record_that_cannot_be_read_ends_its_block_only) {
  few_blocks tape{0};
  append_tape_block(tape.bytes, {.file = file_id, .number = 0}, tests::from_hex("08 02 02 02 03 7f"));
  tape.add(tests::packet_of(packet_kind::message, "b"), 1);
  const auto read = read_all(tape.bytes);
  ASSERT_EQ(read.size(), 3u);
  EXPECT_EQ(read[0], "ended 2");
  EXPECT_TRUE(read[1].find("record at byte 4 of the block's content cannot be read") != std::string::npos) << read[1];
  EXPECT_EQ(read[2], message('b'));
}

TEST(tape_reader, another_version_is_refused_with_both_versions) {
  few_blocks tape;
  tape.bytes[8] = std::byte{2};
  const auto refused = tape_reader::open(tape_bytes_in_memory(tape.bytes));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), node_errc::version_mismatch);
  EXPECT_EQ(refused.error().message(), "at byte 8: it is a tape of version 2, and this program reads version 1");
}

TEST(tape_reader, anything_else_is_refused_with_the_place) {
  EXPECT_EQ(read_all({}),
            (std::vector<std::string>{"refused at byte 0: it ends within the head of a tape, which has 48 "
                                      "bytes"}));
  const byte_vector zeros(1000);
  EXPECT_EQ(read_all(zeros), (std::vector<std::string>{"refused at byte 0: it does not begin like a tape"}));
}

TEST(tape_reader, a_missing_file_is_not_found_and_a_folder_no_tape) {
  const tests::scratch_folder folder;
  EXPECT_EQ(open_tape_file(folder.file("none")).error().code(), node_errc::not_found);
  EXPECT_EQ(open_tape_file(folder.path()).error().code(), node_errc::unreadable);
}

} // namespace
} // namespace troupe::internal
