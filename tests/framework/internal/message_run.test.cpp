// Packets that begin like the previous packet. If such a packet is recognized, it is read exactly as by any other
// reader.
#include <troupe/framework/internal/wire/message_run.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>

#include <gtest/gtest.h>

namespace troupe::internal {
namespace {

constexpr message_head ordinary{.receiver = 3, .sender = 300, .signature = 2};

byte_vector head_bytes(const message_head& head) {
  byte_vector bytes;
  append_message_head(bytes, head);
  return bytes;
}

message_run run_of(const message_head& head, std::uint64_t header_number) {
  message_run run;
  run.learn(head.flags, head_bytes(head), header_number);
  return run;
}

byte_vector packet_of(const message_head& head, std::uint64_t header_number, std::size_t value_bytes) {
  byte_buffer elements;
  append_plain_element(elements, header_number, byte_vector(value_bytes, std::byte{7}));
  auto body = head_bytes(head);
  body.insert(body.end(), elements.bytes().begin(), elements.bytes().end());
  byte_vector packet;
  append_packet_head(packet, {static_cast<std::uint32_t>(body.size()), packet_kind::message, head.flags});
  packet.insert(packet.end(), body.begin(), body.end());
  return packet;
}

/// Appends other bytes, because the last packet of the bytes is not always recognized.
byte_vector followed(byte_vector packet) {
  packet.resize(packet.size() + 64, std::byte{0xee});
  return packet;
}

/// Returns the value of the first packet, as the other readers read it. Returns nullopt if the packet does not match
/// the run.
std::optional<bytes_view> value_by_reader(bytes_view bytes, const message_head& like, std::uint64_t header_number) {
  const auto head = read_packet_head(bytes.first<packet_head_bytes>());
  if (head.kind != packet_kind::message || head.reserved != 0 || head.detail != like.flags
      || head.body_bytes > bytes.size() - packet_head_bytes)
    return std::nullopt;
  packet_reader in{bytes.subspan(packet_head_bytes, head.body_bytes)};
  const auto read = read_message_head(in, head.detail);
  if (!in.ok() || read.receiver != like.receiver || read.sender != like.sender || read.signature != like.signature)
    return std::nullopt;
  const auto element = read_plain_element(in);
  if (!element || element->header_number != header_number || !in.finished())
    return std::nullopt;
  return element->body;
}

void expect_as_reader(const message_run& run, bytes_view bytes, const message_head& head, std::uint64_t header_number) {
  const auto found = run.first_of(bytes);
  if (!found)
    return;
  const auto value = value_by_reader(bytes, head, header_number);
  ASSERT_TRUE(value);
  EXPECT_EQ(found->value.data(), value->data());
  EXPECT_EQ(found->value.size(), value->size());
  EXPECT_EQ(found->size_bytes, packet_head_bytes + read_packet_head(bytes.first<packet_head_bytes>()).body_bytes);
}

TEST(message_run, recognizes_values_of_any_small_size) {
  const auto run = run_of(ordinary, 5);
  for (std::size_t size = 0; size < 900; ++size) {
    const auto bytes = followed(packet_of(ordinary, 5, size));
    ASSERT_TRUE(run.first_of(bytes)) << size;
    EXPECT_EQ(run.first_of(bytes)->value.size(), size);
    expect_as_reader(run, bytes, ordinary, 5);
  }
  EXPECT_FALSE(run.first_of(followed(packet_of(ordinary, 5, message_run::packet_bytes_max))));
}

TEST(message_run, recognizes_what_each_head_and_header_says) {
  constexpr std::uint64_t large = UINT64_MAX;
  for (const message_head head : {message_head{}, ordinary, message_head{.receiver = 1'000'000, .signature = 1},
                                  message_head{.flags = message_flags::urgent, .receiver = large, .sender = large}})
    for (const std::uint64_t header_number : {1, 127, 128, 16'383}) {
      const auto run = run_of(head, header_number);
      const auto bytes = followed(packet_of(head, header_number, 70));
      ASSERT_TRUE(run.first_of(bytes)) << head.receiver << ' ' << header_number;
      expect_as_reader(run, bytes, head, header_number);
      EXPECT_FALSE(run.first_of(followed(packet_of(head, header_number + 1, 70))));
    }
}

TEST(message_run, recognizes_nothing_of_heads_that_are_too_long_for_it) {
  const message_head longest{.receiver = UINT64_MAX, .sender = UINT64_MAX, .signature = UINT64_MAX};
  EXPECT_TRUE(run_of(longest, 1).first_of(followed(packet_of(longest, 1, 70))));
  byte_vector too_long(40, std::byte{0x81});
  message_run run;
  run.learn(0, too_long, 1);
  EXPECT_FALSE(run.first_of(followed(packet_of(ordinary, 1, 70))));
  EXPECT_FALSE(run_of(ordinary, 16'384).first_of(followed(packet_of(ordinary, 16'384, 70))));
}

TEST(message_run, recognizes_nothing_before_it_has_learned_and_after_it_forgot) {
  const auto bytes = followed(packet_of(ordinary, 5, 70));
  message_run run;
  EXPECT_FALSE(run.first_of(bytes));
  run.learn(0, head_bytes(ordinary), 5);
  EXPECT_TRUE(run.first_of(bytes));
  run.forget();
  EXPECT_FALSE(run.first_of(bytes));
}

TEST(message_run, takes_no_packet_that_is_not_whole) {
  const auto run = run_of(ordinary, 5);
  const auto packet = packet_of(ordinary, 5, 200);
  for (std::size_t size = 0; size < packet.size(); ++size)
    EXPECT_FALSE(run.first_of(std::span{packet}.first(size))) << size;
  EXPECT_TRUE(run.first_of(packet));
}

// Goal: for any bytes that a peer writes, a recognized packet gives the same values as the other readers.
TEST(message_run, reads_every_changed_byte_as_other_readers_do) {
  for (const std::uint64_t header_number : {5, 500})
    for (const std::size_t value_bytes : {0, 20, 31, 32, 200}) {
      const auto run = run_of(ordinary, header_number);
      const auto packet = followed(packet_of(ordinary, header_number, value_bytes));
      for (std::size_t at = 0; at < 24; ++at)
        for (int value = 0; value < 256; ++value) {
          auto changed = packet;
          changed[at] = static_cast<std::byte>(value);
          expect_as_reader(run, changed, ordinary, header_number);
        }
    }
}

} // namespace
} // namespace troupe::internal
