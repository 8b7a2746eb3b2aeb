// The byte examples of framework/link-protocol.md.
#include <troupe/framework/internal/wire/packet.hpp>

#include <gtest/gtest.h>

#include "bytes.hpp"

namespace troupe::internal {
namespace {

using tests::from_hex;
using tests::to_hex;

constexpr element_limits wide{
    .header_bytes_max = 1000, .frames_max = 100, .actors_max = 10, .frame_bytes_max = UINT64_MAX};

std::uint64_t varint_of(std::string_view hex) {
  auto bytes = from_hex(hex);
  packet_reader in{bytes};
  auto value = in.varint();
  EXPECT_TRUE(in.finished()) << hex;
  return value;
}

bool varint_is_refused(std::string_view hex) {
  auto bytes = from_hex(hex);
  packet_reader in{bytes};
  in.varint();
  return !in.ok();
}

TEST(packet, the_preamble_has_its_golden_bytes) {
  auto preamble = make_preamble();
  EXPECT_EQ(to_hex(preamble), "54 52 4f 55 50 45 01 00");
  EXPECT_EQ(read_preamble(preamble), protocol_version);
}

TEST(packet, another_preamble_is_no_troupe_link) {
  auto bytes = make_preamble();
  bytes[0] = std::byte{'t'};
  EXPECT_EQ(read_preamble(bytes), std::nullopt);
}

TEST(packet, a_packet_head_has_its_golden_bytes) {
  byte_vector out;
  append_packet_head(out, {.body_bytes = 0x01b203, .kind = packet_kind::message, .detail = message_flags::request});
  EXPECT_EQ(to_hex(out), "03 b2 01 00 02 02 00 00");
  auto head = read_packet_head(std::span<const std::byte, packet_head_bytes>{out});
  EXPECT_EQ(head.body_bytes, 0x01b203u);
  EXPECT_EQ(head.kind, packet_kind::message);
  EXPECT_EQ(head.detail, message_flags::request);
}

TEST(packet, numbers_take_seven_bits_a_byte) {
  for (auto [value, hex] : std::initializer_list<std::pair<std::uint64_t, const char*>>{
           {0, "00"}, {127, "7f"}, {128, "80 01"}, {300, "ac 02"}, {UINT64_MAX, "ff ff ff ff ff ff ff ff ff 01"}}) {
    byte_vector out;
    append_varint(out, value);
    EXPECT_EQ(to_hex(out), hex);
    EXPECT_EQ(varint_of(hex), value);
  }
}

TEST(packet, a_number_in_a_longer_spelling_or_too_large_is_refused) {
  EXPECT_TRUE(varint_is_refused("80 00"));
  EXPECT_TRUE(varint_is_refused("ff ff ff ff ff ff ff ff ff 02"));
  EXPECT_TRUE(varint_is_refused("ff ff ff ff ff ff ff ff ff ff 01"));
  EXPECT_TRUE(varint_is_refused("80"));
  EXPECT_TRUE(varint_is_refused(""));
}

TEST(packet, a_message_head_has_its_golden_bytes) {
  byte_vector out;
  append_message_head(
      out, {.flags = message_flags::request, .receiver = 12, .sender = 300, .request_number = 5, .signature = 1});
  EXPECT_EQ(to_hex(out), "0c ac 02 05 01");
  packet_reader in{out};
  auto head = read_message_head(in, message_flags::request);
  EXPECT_TRUE(in.finished());
  EXPECT_EQ(head.receiver, 12u);
  EXPECT_EQ(head.sender, 300u);
  EXPECT_EQ(head.request_number, 5u);
  EXPECT_EQ(head.signature, 1u);
}

TEST(packet, a_plain_message_carries_no_request_number) {
  byte_vector out;
  append_message_head(out, {.flags = 0, .receiver = 12, .sender = 0, .request_number = 5, .signature = 1});
  EXPECT_EQ(to_hex(out), "0c 00 01");
}

TEST(packet, message_flags_that_are_unknown_or_contradict_are_refused) {
  auto bytes = from_hex("0c 00 05 01");
  for (std::uint8_t flags : {std::uint8_t{32}, std::uint8_t{message_flags::request | message_flags::response}}) {
    packet_reader in{bytes};
    (void)read_message_head(in, flags);
    EXPECT_FALSE(in.ok()) << int{flags};
  }
}

TEST(packet, request_numbers_that_would_be_flags_of_their_own_are_refused) {
  for (const auto* hex :
       {"0c 00 00 01", "0c 00 80 80 80 80 80 80 80 80 10 01", "0c 00 81 80 80 80 80 80 80 80 80 01 01"}) {
    auto bytes = from_hex(hex);
    packet_reader in{bytes};
    (void)read_message_head(in, message_flags::request);
    EXPECT_FALSE(in.ok()) << hex;
  }
}

TEST(packet, an_element_has_its_golden_bytes) {
  byte_vector out;
  append_element(out, {.header_number = 1,
                       .header = {},
                       .frames = {{.place = frame_place::inline_, .size_bytes = 3},
                                  {.place = frame_place::chunks, .size_bytes = 1 << 20, .transfer = 7},
                                  {.place = frame_place::stored,
                                   .size_bytes = 100,
                                   .object_index = 9,
                                   .object_generation = 2,
                                   .object_offset = 64}},
                       .actors = {{.number = 300}, {.number = 5, .readers = true}}});
  EXPECT_EQ(to_hex(out), "01 03 0c 81 80 80 02 07 92 03 09 02 40 04 00 ac 02 01 05");
  out.clear();
  append_element(out, {.header_number = 1, .header = {}, .frames = {}, .actors = {{.number = 300}}, .objects = 130});
  EXPECT_EQ(to_hex(out), "01 00 03 82 01 00 ac 02");
}

TEST(packet, an_element_reads_as_it_was_written) {
  auto header = from_hex("82 a1 66");
  byte_vector out;
  append_element(out,
                 {.header_number = 0, .header = header, .frames = {{.place = frame_place::inline_, .size_bytes = 2}}});
  packet_reader in{out};
  element_descriptor element;
  read_element(in, element, wide);
  EXPECT_TRUE(in.finished());
  EXPECT_EQ(element.header_number, 0u);
  EXPECT_EQ(to_hex(element.header), "82 a1 66");
  ASSERT_EQ(element.frames.size(), 1u);
  EXPECT_EQ(element.frames[0].size_bytes, 2u);
}

TEST(packet, every_truncation_of_an_element_is_refused) {
  auto whole = from_hex("00 03 82 a1 66 03 0c 81 80 80 02 07 92 03 09 02 40 05 03 00 ac 02 01 05");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    packet_reader in{bytes_view{whole}.first(size)};
    element_descriptor element;
    read_element(in, element, wide);
    EXPECT_FALSE(in.ok()) << size;
  }
}

/// Returns true if the bytes are exactly one element within these limits.
bool is_element(const char* hex, const element_limits& limits) {
  auto bytes = from_hex(hex);
  packet_reader in{bytes};
  element_descriptor element;
  read_element(in, element, limits);
  return in.finished();
}

TEST(packet, an_element_beyond_its_limits_is_refused) {
  constexpr element_limits narrow{.header_bytes_max = 3, .frames_max = 2, .actors_max = 2, .frame_bytes_max = 256};
  for (const auto* hex :
       {"00 04 82 a1 66 00 00 00", "01 03 0c 0c 0c 00", "01 01 84 08 00", "01 00 06 00 01 00 02 00 03"}) {
    EXPECT_FALSE(is_element(hex, narrow)) << hex;
    EXPECT_TRUE(is_element(hex, wide)) << hex;
  }
  for (const auto* hex : {"00 03 82 a1 66 00 00", "01 02 0c 0c 00", "01 01 80 08 00", "01 00 04 00 01 00 02"})
    EXPECT_TRUE(is_element(hex, narrow)) << hex;
}

TEST(packet, an_element_that_nobody_writes_is_refused) {
  for (const auto* hex : {"01 01 03 00", "01 00 02 02 01", "01 00 01 00", "01 00 01 81 80 04"})
    EXPECT_FALSE(is_element(hex, wide)) << hex;
}

TEST(packet, a_plain_element_is_read_at_once) {
  auto bytes = from_hex("05 01 08 00 aa bb cc"); // Header 5, one frame of two bytes in the packet, no actors.
  packet_reader in{bytes};
  auto plain = read_plain_element(in);
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->header_number, 5u);
  EXPECT_EQ(to_hex(plain->body), "aa bb");
  EXPECT_EQ(to_hex(in.rest()), "cc");
}

TEST(packet, a_plain_element_may_have_numbers_of_two_bytes) {
  auto bytes = from_hex("85 01 01 88 02 00" + std::string(2 * 66, 'a')); // Header 133, 66 bytes.
  packet_reader in{bytes};
  auto plain = read_plain_element(in);
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->header_number, 133u);
  EXPECT_EQ(plain->body.size(), 66u);
  EXPECT_TRUE(in.finished());
}

TEST(packet, a_plain_element_may_be_short) {
  for (const std::string body : {"", "aa", "aa bb"}) {
    const auto bytes = from_hex("05 01 0" + std::to_string(4 * ((body.size() + 1) / 3)) + " 00 " + body);
    packet_reader in{bytes};
    const auto plain = read_plain_element(in);
    ASSERT_TRUE(plain) << body;
    EXPECT_EQ(to_hex(plain->body), body);
    EXPECT_TRUE(in.finished());
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      packet_reader cut{bytes_view{bytes}.first(size)};
      EXPECT_FALSE(read_plain_element(cut)) << size;
    }
  }
}

TEST(packet, of_an_element_that_is_not_plain_nothing_is_read) {
  for (const auto* hex : {
           "00 01 08 00 aa bb",       // Brings its own header.
           "05 00 00",                // No frame.
           "05 02 04 04 00 aa bb",    // Two frames.
           "05 01 09 07 00 aa bb",    // A frame in chunks.
           "05 01 0a 07 01 00 00 aa", // A frame in the store.
           "05 01 08 01 00 07 aa bb", // Mentions an actor.
           "05 01 08 00 aa",          // Cut short.
           "05 01 08",
           "05 01 88",
           "85 80 01 01 08 00 aa bb", // A number of three bytes.
           "85 00 01 08 00 aa bb",    // Numbers of one byte in a longer spelling.
           "05 81 00 08 00 aa bb",
           "05 01 88 00 00 aa bb",
           "05 01 08 80 00 aa bb",
           "05 01 88 80 04 00 aa bb", // A size of three bytes.
           "",
       }) {
    auto bytes = from_hex(hex);
    packet_reader in{bytes};
    EXPECT_FALSE(read_plain_element(in)) << hex;
    EXPECT_TRUE(in.ok()) << hex;
    EXPECT_EQ(in.rest().size(), bytes.size()) << hex;
  }
}

TEST(packet, a_header_definition_has_its_golden_bytes) {
  auto header = from_hex("82 a1 66");
  byte_vector out;
  append_header(out, {.number = 300, .header = header});
  EXPECT_EQ(to_hex(out), "ac 02 82 a1 66");
  auto back = read_header(out);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->number, 300u);
  EXPECT_EQ(to_hex(back->header), "82 a1 66");
  EXPECT_FALSE(read_header(from_hex("ac")));
}

TEST(packet, a_signature_has_its_golden_bytes) {
  byte_vector out;
  append_signature(out, {.number = 2, .aliases = {"i32", "str"}});
  EXPECT_EQ(to_hex(out), "02 02 03 69 33 32 03 73 74 72");
  auto back = read_signature(out);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->number, 2u);
  EXPECT_EQ(back->aliases, (std::vector<std::string>{"i32", "str"}));
}

TEST(packet, a_signature_with_bytes_left_or_missing_is_refused) {
  EXPECT_FALSE(read_signature(from_hex("02 02 03 69 33 32 03 73 74 72 00")));
  EXPECT_FALSE(read_signature(from_hex("02 02 03 69 33 32 03 73 74")));
  EXPECT_FALSE(read_signature(from_hex("02 ff ff 03")));
}

} // namespace
} // namespace troupe::internal
