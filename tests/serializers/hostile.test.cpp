// Goal: whatever the bytes, decoding ends soon and takes no more memory than its budget.
// Method: every allocation of this program is counted.
#include <gtest/gtest.h>

#include <troupe/serializers/msgpack/described.hpp>

#include "allocated_bytes.hpp"
#include "rich.hpp"

namespace {

using namespace troupe;
using namespace std::literals;

struct nothing {};
TROUPE_DESCRIBE(nothing)

struct unaware {
  int known = 0;
};
TROUPE_DESCRIBE(unaware, known)

struct large {
  std::string names[16];
};
TROUPE_DESCRIBE(large, names)

// Decodes and gives what that allocated; succeeding is not expected.
template <class T>
std::size_t cost_of(const std::string& bytes) {
  const auto before = allocated_bytes.load();
  const auto back = msgpack::decode_described<T>(std::as_bytes(std::span(bytes)));
  const auto cost = allocated_bytes.load() - before;
  EXPECT_FALSE(back.has_value());
  return cost;
}

TEST(hostile_msgpack, announces_more_than_it_has) {
  for (const auto bytes : {"\xdd\xff\xff\xff\xff"sv, "\xdc\xff\xff"sv, "\xdf\xff\xff\xff\xff"sv,
                           "\xdb\xff\xff\xff\xff"sv, "\xc6\xff\xff\xff\xff"sv, "\xdd\xff"sv, "\xd9"sv, "\x9f"sv}) {
    EXPECT_LT(cost_of<std::vector<large>>(std::string(bytes)), 4096U);
    EXPECT_LT(cost_of<std::string>(std::string(bytes)), 4096U);
    EXPECT_LT((cost_of<std::map<std::string, std::string>>(std::string(bytes))), 4096U);
  }
}

TEST(hostile_msgpack, nests_without_end) {
  std::string lists;
  for (int i = 0; i < 24'000; ++i)
    lists += "\xdc\x00\x01"sv;
  EXPECT_LT(cost_of<std::vector<std::vector<int>>>(lists), 65'536U);
  EXPECT_LT(cost_of<unaware>("\x81\xa3new" + lists), 65'536U) << "to be skipped";
  EXPECT_LT(cost_of<unaware>("\x81\xa3new" + std::string(2'000'000, '\x91')), 65'536U);
  std::string trees;
  for (int i = 0; i < 10'000; ++i)
    trees += "\x81\xa4next";
  EXPECT_LT(cost_of<rich::tree>(trees), 262'144U);
}

TEST(hostile_msgpack, multiplies) {
  // Each byte asks for an element of hundreds of bytes.
  std::string many = "\xdd\x00\x10\x00\x00"s;
  many.append(0x100000, '\x80');
  const auto before = allocated_bytes.load();
  static_cast<void>(msgpack::decode_described<std::vector<large>>(std::as_bytes(std::span(many))));
  EXPECT_LT(allocated_bytes.load() - before, 64 * many.size() + 2_MiB);
}

class hostile_typed : public testing::Test {
protected:
  hostile_typed() {
    rich::add_to(types);
    types.add<std::vector<nothing>>("nothings");
  }

  type_registry types;
  family_set families;
};

TEST_F(hostile_typed, announces_elements_that_take_no_room) {
  auto sent = *serialize(std::vector<nothing>(), {}, types, families);
  std::vector<std::byte> body(sent.frames[0].bytes().begin(), sent.frames[0].bytes().end() - 1);
  for (const auto byte : {0x80, 0x80, 0x80, 0x80, 0x08}) // 2^31
    body.push_back(static_cast<std::byte>(byte));
  sent.frames[0] = frame::adopt(std::move(body));
  const auto before = allocated_bytes.load();
  const auto back = deserialize<std::vector<nothing>>(sent, {}, types, families);
  EXPECT_LT(allocated_bytes.load() - before, 4096U);
  ASSERT_FALSE(back.has_value());
  EXPECT_EQ(back.error().code(), serialize_errc::limit_exceeded);
}

TEST_F(hostile_typed, has_paths_of_more_parts_than_memory_for_them) {
  rich::everything value;
  for (int i = 0; i < 3000; ++i)
    value.where += "a/";
  for (const auto* family : {"typed", "msgpack", "json"}) {
    const auto sent = *serialize(value, {.serializers = {family}}, types, families);
    deserialize_options options{.deserializers = {family}};
    EXPECT_TRUE(deserialize<rich::everything>(sent, options, types, families)) << family;
    options.context.limits.memory_bytes = 256_KiB;
    const auto before = allocated_bytes.load();
    const auto back = deserialize<rich::everything>(sent, options, types, families);
    EXPECT_LT(allocated_bytes.load() - before, 64_KiB) << family;
    ASSERT_FALSE(back.has_value()) << family;
    EXPECT_EQ(back.error().code(), serialize_errc::limit_exceeded) << family;
  }
}

TEST_F(hostile_typed, lies_about_the_senders_layout) {
  const auto sent = *serialize(rich::full(), {}, types, families);
  const auto schema = types.find("everything")->schema();
  const std::vector<std::byte> body(sent.frames[0].bytes().begin(), sent.frames[0].bytes().end());
  for (std::size_t bit = 0; bit < schema.size() * 8; ++bit) {
    std::vector<std::byte> forged(schema.begin(), schema.end());
    forged[bit / 8] ^= std::byte{1} << (bit % 8);
    // With the fingerprint that belongs to the forged layout, so that it is believed.
    auto damaged = sent;
    auto damaged_body = body;
    const auto fingerprint = detail::fingerprint_of(forged);
    std::memcpy(damaged_body.data() + 1, &fingerprint, sizeof(fingerprint));
    damaged.frames[0] = frame::adopt(std::move(damaged_body));
    damaged.header = make_header({.family = "typed", .type = "everything", .schema = forged, .extra = {}});
    const auto before = allocated_bytes.load();
    static_cast<void>(deserialize<rich::everything>(damaged, {}, types, families));
    EXPECT_LT(allocated_bytes.load() - before, 2_MiB) << "bit " << bit;
  }
}

TEST_F(hostile_typed, nests_its_layout_without_end) {
  auto sent = *serialize(rich::full(), {}, types, families);
  std::vector<std::byte> forged(60'000, std::byte{0x16}); // A list of lists of lists.
  std::vector<std::byte> body(sent.frames[0].bytes().begin(), sent.frames[0].bytes().end());
  const auto fingerprint = detail::fingerprint_of(forged);
  std::memcpy(body.data() + 1, &fingerprint, sizeof(fingerprint));
  sent.frames[0] = frame::adopt(std::move(body));
  sent.header = make_header({.family = "typed", .type = "everything", .schema = forged, .extra = {}});
  EXPECT_FALSE(deserialize<rich::everything>(sent, {}, types, families));
}

TEST(hostile_header, is_bounded_and_must_be_a_map) {
  const std::vector<std::byte> long_header(1_MiB);
  EXPECT_EQ(parse_header(long_header).error().code(), serialize_errc::limit_exceeded);
  for (const auto bytes : {""sv, "\xc0"sv,
                           "\x91\xa1"
                           "f"sv,
                           "\x81\xa1"
                           "f\xa1x"sv,
                           "\x82\xa1"
                           "f\xa1x\xa1t\x05"sv,
                           "\x83\xa1"
                           "f\xa1x\xa1"
                           "f\xa1y\xa1t\xa1z"sv,
                           "\x82\xa1"
                           "f\xa1x\xa1t\xa1y\x00"sv})
    EXPECT_FALSE(parse_header(std::as_bytes(std::span(bytes))).has_value());
  EXPECT_TRUE(parse_header(std::as_bytes(std::span("\x83\xa1"
                                                   "f\xa1x\xa3new\x91\xc0\xa1t\xa1y"sv)))
                  .has_value());
}

TEST(hostile_header, counts_and_measures_frames) {
  const type_registry types;
  const family_set families;
  auto sent = *serialize(1, {}, types, families);
  deserialize_options options;
  options.context.limits.frames = 1;
  EXPECT_TRUE(deserialize<int>(sent, options, types, families));
  sent.frames.emplace_back();
  EXPECT_EQ(deserialize<int>(sent, options, types, families).error().code(), serialize_errc::limit_exceeded);
  sent.frames.pop_back();
  options.context.limits.body_bytes = 8;
  EXPECT_EQ(deserialize<int>(sent, options, types, families).error().message(),
            "frame 0 of 9 bytes, limit 8 (limits::body_bytes)");
}

} // namespace
