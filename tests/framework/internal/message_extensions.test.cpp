#include <troupe/framework/internal/wire/message_extensions.hpp>

#include <algorithm>
#include <array>

#include <gtest/gtest.h>

#include "bytes.hpp"

namespace troupe::internal {
namespace {

using tests::to_hex;

byte_vector map_of(std::initializer_list<std::uint64_t> keys, std::size_t value_bytes = 2) {
  byte_vector map;
  for (auto key : keys)
    append_extension(map, key, byte_vector(value_bytes, std::byte{0x61}));
  return map;
}

TEST(message_extensions, a_head_with_a_map_has_its_golden_bytes) {
  const auto map = map_of({7, 300});
  byte_vector out;
  append_message_head(out, {.flags = message_flags::extended, .receiver = 12, .signature = 1, .extensions = map});
  EXPECT_EQ(to_hex(out), "0c 00 01 09 07 02 61 61 ac 02 02 61 61");
  packet_reader in{out};
  const auto head = read_message_head(in, message_flags::extended);
  ASSERT_TRUE(in.finished());
  EXPECT_TRUE(std::ranges::equal(head.extensions, map));
  ASSERT_TRUE(find_extension(head.extensions, 300));
  EXPECT_EQ(find_extension(head.extensions, 300)->size(), 2u);
  EXPECT_FALSE(find_extension(head.extensions, 8));
}

TEST(message_extensions, keys_ascend_and_none_is_zero) {
  EXPECT_TRUE(is_extension_map(map_of({1, 2, 1000})));
  EXPECT_FALSE(is_extension_map(map_of({2, 1})));
  EXPECT_FALSE(is_extension_map(map_of({1, 1})));
  EXPECT_FALSE(is_extension_map(map_of({0})));
}

TEST(message_extensions, a_map_is_neither_empty_nor_too_long_nor_cut_short) {
  EXPECT_FALSE(is_extension_map({}));
  EXPECT_TRUE(is_extension_map(map_of({1}, extension_bytes_max - 3)));
  EXPECT_FALSE(is_extension_map(map_of({1}, extension_bytes_max - 2)));
  const auto whole = map_of({1, 2});
  for (std::size_t bytes = 1; bytes < whole.size(); ++bytes)
    EXPECT_EQ(is_extension_map(bytes_view{whole}.first(bytes)), bytes == 4) << bytes; // Complete after the first entry.
}

TEST(message_extensions, a_head_whose_map_is_none_fails) {
  for (const auto& map : {map_of({2, 1}), byte_vector{}}) {
    byte_vector out;
    append_message_head(out, {.flags = message_flags::extended, .receiver = 12, .signature = 1, .extensions = map});
    packet_reader in{out};
    (void)read_message_head(in, message_flags::extended);
    EXPECT_FALSE(in.ok());
  }
}

TEST(message_extensions, flags_that_need_not_be_understood_are_skipped) {
  const auto bytes = std::array{std::byte{12}, std::byte{0}, std::byte{1}};
  packet_reader in{bytes};
  const auto head = read_message_head(in, 0xc0);
  EXPECT_TRUE(in.finished());
  EXPECT_EQ(head.flags, message_flags::repeated) << "the one of them that this version knows";
}

TEST(message_extensions, what_the_values_take_has_its_golden_bytes) {
  byte_vector map;
  append_value_bytes(map, 300);
  EXPECT_EQ(to_hex(map), "01 02 ac 02");
  EXPECT_EQ(value_bytes_of(map), 300u);
  EXPECT_EQ(value_bytes_of({}), 0u);
  EXPECT_EQ(value_bytes_of(map_of({2})), 0u);
}

TEST(message_extensions, what_cannot_be_a_number_counts_as_the_most) {
  byte_vector map;
  append_extension(map, 1, tests::from_hex("80"));
  EXPECT_EQ(value_bytes_of(map), value_bytes_max);
  map.clear();
  append_value_bytes(map, UINT64_MAX);
  EXPECT_EQ(value_bytes_of(map), value_bytes_max);
}

} // namespace
} // namespace troupe::internal
