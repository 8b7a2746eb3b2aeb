// The family msgpack: golden bytes that any other implementation can read, and the helpers for a protocol's own
// messages.
#include <gtest/gtest.h>

#include <troupe/serializers/msgpack/described.hpp>

#include "hello.hpp"

namespace {

using namespace troupe;

using hellos::hello;
using hellos::hello_two;

std::vector<std::byte> bytes_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

using namespace std::string_view_literals;

TEST(msgpack, writes_maps_by_field_name) {
  const auto bytes = msgpack::encode_described(hello{"n", 300, {"typed"}, std::nullopt, rich::color::blue});
  EXPECT_EQ(bytes, bytes_of("\x85\xa4node\xa1n\xa7version\xcd\x01\x2c\xa8"
                            "families\x91\xa5typed\xa5since\xc0\xa5paint\xa4"
                            "blue"sv));
}

TEST(msgpack, skips_unknown_fields_and_keeps_defaults_of_missing_ones) {
  const auto bytes = msgpack::encode_described(hello_two{7, {{"k", {1, 2}}}, "n"});
  const auto back = msgpack::decode_described<hello>(bytes);
  ASSERT_TRUE(back.has_value()) << back.error().message();
  EXPECT_EQ(back->version, 7U);
  EXPECT_EQ(back->node, "n");
  EXPECT_EQ(back->paint, rich::color::green);
}

TEST(msgpack, accepts_numbers_in_any_width_and_whole_numbers_as_reals) {
  EXPECT_EQ(msgpack::decode_described<std::uint8_t>(bytes_of("\xcf\0\0\0\0\0\0\0\x05"sv)), 5);
  EXPECT_EQ(msgpack::decode_described<std::int8_t>(bytes_of("\xd3\xff\xff\xff\xff\xff\xff\xff\xfe"sv)), -2);
  EXPECT_EQ(msgpack::decode_described<double>(bytes_of("\x05"sv)), 5.0);
  EXPECT_EQ(msgpack::decode_described<int>(bytes_of("\xcb\x40\x14\0\0\0\0\0\0"sv)), 5);
  EXPECT_FALSE(msgpack::decode_described<int>(bytes_of("\xcb\x40\x14\x80\0\0\0\0\0"sv)).has_value()) << "5.125";
  EXPECT_FALSE(msgpack::decode_described<std::uint8_t>(bytes_of("\xcd\x01\0"sv)).has_value()) << "256";
  EXPECT_FALSE(msgpack::decode_described<unsigned>(bytes_of("\xff"sv)).has_value()) << "-1";
}

TEST(msgpack, refuses_duplicate_fields_and_keys) {
  EXPECT_EQ(msgpack::decode_described<hello>(bytes_of("\x82\xa4node\xa1n\xa4node\xa1m"sv)).error().message(),
            "msgpack: message.node: a field twice");
  EXPECT_FALSE((msgpack::decode_described<std::map<int, int>>(bytes_of("\x82\x01\x02\x01\x03"sv)).has_value()));
}

TEST(msgpack, refuses_what_is_no_map) {
  for (const auto bytes : {"\xc0"sv, "\x90"sv, "\x05"sv, "\xc1"sv, ""sv, "\xc7"sv, "\xd4\x01\x01"sv})
    EXPECT_FALSE(msgpack::decode_described<hello>(bytes_of(bytes)).has_value());
}

TEST(msgpack, refuses_references_that_lead_nowhere) {
  using pointers = std::vector<std::shared_ptr<rich::leaf>>;
  const auto object = "\x92\xd6\x02\0\0\0\0\x81\xa4name\xa1x"sv;
  EXPECT_TRUE(
      msgpack::decode_described<pointers>(bytes_of("\x92" + std::string(object) + std::string("\xd6\x01\0\0\0\0"sv))));
  EXPECT_FALSE(
      msgpack::decode_described<pointers>(bytes_of("\x92" + std::string(object) + std::string("\xd6\x01\0\0\0\1"sv))));
  EXPECT_FALSE(msgpack::decode_described<pointers>(bytes_of("\x91\xd6\x01\0\0\0\0"sv))) << "forward";
  EXPECT_FALSE(msgpack::decode_described<pointers>(bytes_of("\x92" + std::string(object) + std::string(object))))
      << "number 0 twice";
  using mixed = std::pair<std::shared_ptr<rich::leaf>, std::shared_ptr<rich::point>>;
  EXPECT_FALSE(
      msgpack::decode_described<mixed>(bytes_of("\x92" + std::string(object) + std::string("\xd6\x01\0\0\0\0"sv))))
      << "another type";
}

} // namespace
