// The wire format of messages about handles.
#include <troupe/framework/internal/wire/handle_wire.hpp>

#include <array>

#include <gtest/gtest.h>

#include <troupe/framework/internal/wire/crc32c.hpp>
#include <troupe/serializers/msgpack/described.hpp>

namespace troupe::internal {
namespace {

using handles::handle_mode;
using handles::object_id;

const object_id name{0xfeed'beef'0123'4567, 7, 9};
const handles::adoption_offer offer{{UINT64_MAX, 12}, {1, 2, 3}, 0xabcdef};

byte_vector bytes_of(const object_mention& mention) {
  byte_vector bytes;
  append_object_mention(bytes, mention);
  return bytes;
}

object_mention at_home(object_mention mention, const object_id& where, std::uint64_t proof) {
  mention.handle.home = handles::home_name{where, proof};
  return mention;
}

object_mention counted(handle_mode mode, std::optional<handles::adoption_offer> offered = std::nullopt,
                       std::uint64_t mark = 0) {
  return {object_mention::kind::counted, {name, mode, 91'203, offered, mark, mark != 0 ? UINT32_MAX : 0}};
}

TEST(object_mention, is_read_as_it_was_written) {
  object_mention lost{.what = object_mention::kind::lost, .handle = {}};
  lost.handle.size_bytes = 5;
  object_mention stored{.what = object_mention::kind::stored, .handle = {}};
  stored.handle.name = name;
  stored.handle.size_bytes = UINT64_MAX;
  const auto repeated = [](object_mention mention) {
    mention.is_repeated = true;
    return mention;
  };
  for (const auto& each :
       {lost, stored, repeated(stored), repeated(counted(handle_mode::mine)),
        repeated(
            at_home(counted(handle_mode::behind, offer, UINT64_MAX), {UINT64_MAX, UINT32_MAX, UINT32_MAX}, UINT64_MAX)),
        counted(handle_mode::mine), counted(handle_mode::shared), counted(handle_mode::behind),
        counted(handle_mode::behind, offer), counted(handle_mode::behind, std::nullopt, UINT64_MAX),
        counted(handle_mode::behind, offer, 1), counted(handle_mode::yours),
        at_home(counted(handle_mode::mine), name, UINT64_MAX), at_home(counted(handle_mode::shared), {1, 2, 3}, 0),
        at_home(counted(handle_mode::behind, offer, UINT64_MAX), {UINT64_MAX, UINT32_MAX, UINT32_MAX}, UINT64_MAX)}) {
    const auto bytes = bytes_of(each);
    EXPECT_LE(bytes.size(), object_mention_bytes_max);
    packet_reader in{bytes};
    const auto back = read_object_mention(in);
    EXPECT_TRUE(in.finished());
    EXPECT_EQ(back.what, each.what);
    EXPECT_EQ(back.is_repeated, each.is_repeated);
    EXPECT_EQ(back.handle.size_bytes, each.handle.size_bytes);
    EXPECT_EQ(back.handle.name, each.handle.name);
    if (each.what == object_mention::kind::counted) {
      EXPECT_EQ(back.handle, each.handle);
    }
  }
}

TEST(object_mention, has_these_bytes) {
  const std::vector<std::byte> golden{
      std::byte{0b0'0000'1011}, std::byte{3},    std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4},
      std::byte{0x80},          std::byte{0x01}, std::byte{5}, std::byte{6}, std::byte{7}, std::byte{8}};
  EXPECT_EQ(bytes_of({object_mention::kind::counted,
                      {{1, 2, 3}, handle_mode::behind, 3, handles::adoption_offer{{4, 128}, {5, 6, 7}, 8}}}),
            golden);
  EXPECT_EQ(
      bytes_of(
          {.what = object_mention::kind::stored, .handle = {.name = {1, 2, 3}, .size_bytes = 4}, .is_repeated = true}),
      (std::vector<std::byte>{std::byte{128 | 5}, std::byte{1}, std::byte{4}, std::byte{1}, std::byte{2},
                              std::byte{3}}));
  auto marked = golden;
  marked[0] = std::byte{3 | 8 | 16};
  marked.insert(marked.end(), {std::byte{0x80}, std::byte{0x01}, std::byte{9}});
  EXPECT_EQ(bytes_of({object_mention::kind::counted,
                      {{1, 2, 3}, handle_mode::behind, 3, handles::adoption_offer{{4, 128}, {5, 6, 7}, 8}, 128, 9}}),
            marked);
  const std::vector<std::byte> home{std::byte{1 | 32}, std::byte{4}, std::byte{1}, std::byte{2}, std::byte{3},
                                    std::byte{5},      std::byte{6}, std::byte{7}, std::byte{8}};
  const object_mention mine{object_mention::kind::counted, {{1, 2, 3}, handle_mode::mine, 4, {}}};
  EXPECT_EQ(bytes_of(at_home(mine, {5, 6, 7}, 8)), home);
  const std::vector<std::byte> own_home{std::byte{1 | 64}, std::byte{4}, std::byte{1},
                                        std::byte{2},      std::byte{3}, std::byte{8}};
  EXPECT_EQ(bytes_of(at_home(mine, {1, 2, 3}, 8)), own_home);
}

TEST(object_mention, that_is_cut_or_of_an_unknown_mode_is_not_read) {
  const auto whole = bytes_of(counted(handle_mode::behind, offer, 77));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    packet_reader in{bytes_view{whole}.first(size)};
    static_cast<void>(read_object_mention(in));
    EXPECT_FALSE(in.ok()) << size;
  }
  // An unknown mode, a home for a lost handle, a mark without being behind, both kinds of home, and a home for the
  // reader's own object.
  for (const auto first : {6, 7, 128, 32, 1 | 16, 1 | 8, 5 | 64, 3 | 32 | 64, 4 | 32}) {
    auto unknown = whole;
    unknown[0] = static_cast<std::byte>(first);
    packet_reader in{unknown};
    static_cast<void>(read_object_mention(in));
    EXPECT_FALSE(in.ok()) << first;
  }
}

TEST(object_mention, has_one_form_only) {
  auto bytes = bytes_of(at_home(counted(handle_mode::mine), {1, 2, 3}, 4));
  bytes.resize(bytes.size() - 4); // Cuts the home's name and the proof, a byte each.
  auto same = bytes;
  const auto named = bytes_of(counted(handle_mode::mine));
  same.insert(same.end(), named.end() - 12, named.end()); // The handle's own name instead of another one.
  same.push_back(std::byte{4});
  packet_reader in{same};
  static_cast<void>(read_object_mention(in));
  EXPECT_FALSE(in.ok());
}

TEST(object_mention, with_a_mark_that_is_none_is_not_read) {
  auto bytes = bytes_of(counted(handle_mode::behind, std::nullopt, 1));
  bytes[bytes.size() - 6] = std::byte{0};
  packet_reader in{bytes};
  static_cast<void>(read_object_mention(in));
  EXPECT_FALSE(in.ok());
}

TEST(object_chunk_head, is_read_as_it_was_written) {
  byte_vector bytes;
  append_object_chunk_head(bytes, {{300, 1ull << 40, 0}, 0xdeadbeef});
  bytes.resize(bytes.size() + 11);
  packet_reader in{bytes};
  const auto back = read_object_chunk_head(in);
  ASSERT_TRUE(in.ok());
  EXPECT_EQ(back.what.request, 300u);
  EXPECT_EQ(back.what.offset, 1ull << 40);
  EXPECT_EQ(back.what.size_bytes, 11u);
  EXPECT_EQ(back.checksum, 0xdeadbeefu);
  for (std::size_t size = 0; size < bytes.size() - 11; ++size) {
    packet_reader cut{bytes_view{bytes}.first(size)};
    static_cast<void>(read_object_chunk_head(cut));
    EXPECT_FALSE(cut.ok()) << size;
  }
}

TEST(crc32c, is_castagnolis_and_goes_on_from_where_it_was) {
  const std::string_view text = "123456789";
  const auto bytes = std::as_bytes(std::span{text});
  EXPECT_EQ(crc32c(0, bytes), 0xe3069283u); // The published check value of CRC-32C.
  EXPECT_EQ(crc32c(crc32c(0, bytes.first(4)), bytes.subspan(4)), 0xe3069283u);
  EXPECT_EQ(crc32c(0, {}), 0u);
}

std::vector<handles::message> one_of_each() {
  handles::handle_descriptor handle{name, handle_mode::behind, 5, offer};
  handle.home = handles::home_name{{1, 2, 3}, 4};
  return {handles::release{name, 3},
          handles::vouch{name, {4, 5}, 6},
          handles::adopt{7, name, 8},
          handles::adopted{9, handle},
          handles::reclaim{10, name, 11},
          handles::reclaimed{12, name},
          handles::pull{13, name},
          handles::cancel{14},
          handles::pull_head{15, 16, {handle, {name, handle_mode::mine, 17, {}}}},
          handles::pull_here{18, {name, handle_mode::shared, 19, {}}},
          handles::refused{20, handles::handle_errc::too_many},
          handles::lost{name}};
}

TEST(handle_message, is_read_as_it_was_written) {
  for (const auto& each : one_of_each()) {
    const auto packet = encode_handle_message(each);
    EXPECT_TRUE(is_about_handles(packet.op));
    const auto back = decode_handle_message(packet.op, packet.body, {});
    ASSERT_TRUE(back) << back.error().message();
    EXPECT_EQ(back->index(), each.index());
    EXPECT_EQ(encode_handle_message(*back).body, packet.body); // The whole content survives.
  }
}

TEST(handle_message, that_is_cut_is_a_violation) {
  for (const auto& each : one_of_each()) {
    const auto packet = encode_handle_message(each);
    for (std::size_t size = 0; size < packet.body.size(); ++size) {
      const auto back = decode_handle_message(packet.op, bytes_view{packet.body}.first(size), {});
      ASSERT_FALSE(back) << static_cast<int>(packet.op) << " cut at " << size;
      EXPECT_EQ(back.error().code(), node_errc::protocol_violation);
    }
  }
}

struct handle_of_no_mode {
  std::uint8_t mode = 5;
};
TROUPE_DESCRIBE(handle_of_no_mode, mode)
struct answer_with_it {
  std::uint64_t request = 1;
  handle_of_no_mode handle;
};
TROUPE_DESCRIBE(answer_with_it, request, handle)

TEST(handle_message, with_a_handle_of_an_unknown_mode_is_a_violation) {
  for (const auto mode : std::to_array<std::uint8_t>({0, 5, 255})) {
    answer_with_it answer;
    answer.handle.mode = mode;
    const auto body = msgpack::encode_described(answer);
    for (auto op : {admin_op::adopted, admin_op::pull_here})
      EXPECT_FALSE(decode_handle_message(op, body, {}));
  }
}

} // namespace
} // namespace troupe::internal
