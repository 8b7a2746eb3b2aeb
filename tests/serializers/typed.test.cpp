// The family typed: golden bytes, frames out of band, and answers to hostile bodies.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rich.hpp"

namespace {

using namespace troupe;

struct sample {
  std::int32_t count = 0;
  bool on = false;
  std::string name;
  double ratio = 0;
  std::optional<std::uint16_t> maybe;
  std::vector<std::int16_t> values;
};
TROUPE_DESCRIBE(sample, count, on, name, ratio, maybe, values)

std::string hex(std::span<const std::byte> bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (const auto byte : bytes) {
    text += digits[std::to_integer<std::size_t>(byte) >> 4];
    text += digits[std::to_integer<std::size_t>(byte) & 15];
  }
  return text;
}

class typed : public testing::Test {
protected:
  typed() { types.add<sample>("sample").add<std::vector<rich::point>>("points"); }

  template <class T>
  payload encoded(const T& value) {
    return *serialize(value, {.serializers = {"typed"}, .on_error = on_error::raise, .context = ctx}, types, families);
  }

  // Decodes a body with the right form and fingerprint, followed by these bytes.
  template <class T>
  serialize_errc code_of(std::initializer_list<int> behind_the_fingerprint) {
    auto sent = encoded(T{});
    const auto head = sent.frames[0].bytes().first(5);
    std::vector<std::byte> body(head.begin(), head.end());
    for (const auto byte : behind_the_fingerprint)
      body.push_back(static_cast<std::byte>(byte));
    sent.frames[0] = frame::adopt(std::move(body));
    const auto back = deserialize<T>(sent, {.deserializers = {"typed"}, .context = ctx}, types, families);
    return back ? serialize_errc::none : back.error().code();
  }

  type_registry types;
  family_set families;
  context ctx;
};

TEST_F(typed, writes_the_bytes_that_the_document_shows) {
  const auto sent = encoded(sample{-2, true, "abc", 1.5, 7, {1, -1}});
  EXPECT_EQ(hex(sent.frames[0].bytes()), "01"
                                         "bf41f095" // form, fingerprint
                                         "feffffff"
                                         "01" // count, on
                                         "06"
                                         "616263"           // name
                                         "000000000000f83f" // ratio
                                         "01"
                                         "0700" // maybe
                                         "04"
                                         "0100ffff"); // values
  EXPECT_EQ(hex(types.find("sample")->schema()), "1806"
                                                 "05"
                                                 "636f756e74"
                                                 "04"
                                                 "02"
                                                 "6f6e"
                                                 "01"
                                                 "04"
                                                 "6e616d65"
                                                 "0c"
                                                 "05"
                                                 "726174696f"
                                                 "0b"
                                                 "05"
                                                 "6d61796265"
                                                 "0e07"
                                                 "06"
                                                 "76616c756573"
                                                 "1503");
}

TEST_F(typed, costs_five_bytes_beyond_the_values) {
  EXPECT_EQ(encoded(std::int32_t{1}).frames[0].size_bytes(), 9U);
}

struct value_owner : frame_owner {};

TEST_F(typed, lets_large_arrays_leave_without_a_copy_when_the_value_has_an_owner) {
  const std::vector<double> values(1000, 2.5);
  ctx.value_owner = std::make_shared<value_owner>();
  const auto sent = encoded(values);
  ASSERT_EQ(sent.frames.size(), 2U);
  EXPECT_EQ(sent.frames[1].bytes().data(), reinterpret_cast<const std::byte*>(values.data()));
  EXPECT_EQ(sent.frames[1].owner(), ctx.value_owner);
}

TEST_F(typed, copies_large_arrays_of_values_without_an_owner) {
  const std::vector<double> values(1000, 2.5);
  const auto sent = encoded(values);
  ASSERT_EQ(sent.frames.size(), 2U);
  EXPECT_NE(sent.frames[1].bytes().data(), reinterpret_cast<const std::byte*>(values.data()));
}

TEST_F(typed, hands_arrays_on_as_views_of_the_frame) {
  const array<double> values(std::vector<double>(1000, 2.5));
  const auto sent = encoded(values);
  ASSERT_EQ(sent.frames.size(), 2U);
  EXPECT_EQ(sent.frames[1].bytes().data(), values.bytes().bytes().data());
  const auto back = deserialize<array<double>>(sent, {}, types, families);
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(back->data(), values.data());
}

TEST_F(typed, copies_an_array_whose_frame_lies_unaligned) {
  auto sent = encoded(array<double>(std::vector<double>(1000, 2.5)));
  std::vector<std::byte> shifted(8001);
  std::memcpy(shifted.data() + 1, sent.frames[1].bytes().data(), 8000);
  sent.frames[1] = frame::adopt(std::move(shifted)).slice(1, 8000);
  const auto back = deserialize<array<double>>(sent, {}, types, families);
  ASSERT_TRUE(back.has_value()) << back.error().message();
  EXPECT_EQ((*back)[999], 2.5);
}

TEST_F(typed, refuses_unknown_forms) {
  auto sent = encoded(1.5);
  std::vector<std::byte> body(sent.frames[0].bytes().begin(), sent.frames[0].bytes().end());
  body[0] = std::byte{3};
  sent.frames[0] = frame::adopt(std::move(body));
  EXPECT_EQ(deserialize<double>(sent, {}, types, families).error().message(),
            "typed: f64: a body of the unknown form 3");
}

TEST_F(typed, refuses_nonsense_in_every_sort_of_field) {
  EXPECT_EQ(code_of<bool>({1}), serialize_errc::none);
  EXPECT_EQ(code_of<bool>({2}), serialize_errc::malformed);
  EXPECT_EQ(code_of<std::string>({0x02, 'a'}), serialize_errc::none);
  EXPECT_EQ(code_of<std::string>({0x82, 0x00, 'a'}), serialize_errc::malformed) << "a number longer than needed";
  EXPECT_EQ(code_of<std::string>({0x80}), serialize_errc::malformed) << "a number cut off";
  EXPECT_EQ(code_of<std::string>({0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, 'a'}),
            serialize_errc::malformed);
  EXPECT_EQ(code_of<std::string>({0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01}),
            serialize_errc::malformed);
  EXPECT_EQ(code_of<std::string>({0x03, 'a'}), serialize_errc::malformed) << "a missing frame";
  EXPECT_EQ(code_of<std::vector<double>>({0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f}),
            serialize_errc::malformed);
  EXPECT_EQ(code_of<std::vector<rich::point>>({0xff, 0xff, 0xff, 0xff, 0x0f}), serialize_errc::malformed);
  EXPECT_EQ(code_of<array<double>>({0x02, 0x03, 0x03, 0x02, 1, 2, 3, 4, 5, 6, 7, 8}), serialize_errc::malformed)
      << "shape 3 x 3, one number";
}

} // namespace
