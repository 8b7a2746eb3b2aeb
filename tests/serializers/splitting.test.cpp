// Goal: frames in pieces are the same payload, and are joined without a copy if the pieces are adjacent. If a payload
// claims that frames are in pieces, the claim is checked.
#include <algorithm>

#include <troupe/serializers/splitting.hpp>

#include "every_family.hpp"

namespace {

using namespace conformance;

struct sheets {
  std::string title;
  array<double> left;
  array<float> right;
  std::vector<std::int16_t> rest;
  bool operator==(const sheets&) const = default;
};
TROUPE_DESCRIBE(sheets, title, left, right, rest)

sheets some_sheets() {
  std::vector<double> left(3'000);
  std::vector<float> right(5'000);
  for (std::size_t i = 0; i < left.size(); ++i)
    left[i] = static_cast<double>(i) / 7;
  for (std::size_t i = 0; i < right.size(); ++i)
    right[i] = static_cast<float>(i);
  return {"sheets", array<double>(left, {30, 100}), array<float>(right), std::vector<std::int16_t>(9'999, 5)};
}

class in_pieces : public every_family {
protected:
  in_pieces() { add_cereal<sheets>(types, "sheets"); }

  static payload copied_apart(payload from) {
    for (auto& each : from.frames)
      each = frame::copy_of(each.bytes());
    return from;
  }
  static payload with_note(const payload& from, std::initializer_list<unsigned char> note) {
    auto fields = *parse_header(from.header.bytes());
    fields.frame_pieces = std::as_bytes(std::span(note.begin(), note.size()));
    return {make_header(fields), from.frames};
  }
};

INSTANTIATE_TEST_SUITE_P(, in_pieces, testing::ValuesIn(all_families), name_of_row);

TEST_P(in_pieces, payloads_are_the_same_value) {
  const auto value = some_sheets();
  const auto whole = encoded(value);
  for (const std::size_t most : {1'001, 4'096, 1'000'000}) {
    const auto split = split_frames(whole, most);
    ASSERT_TRUE(split.has_value()) << split.error().message();
    for (const auto& each : split->frames)
      EXPECT_LE(each.size_bytes(), most);
    for (const auto& sent : {*split, copied_apart(*split)}) {
      const auto back = decoded<sheets>(sent);
      ASSERT_TRUE(back.has_value()) << back.error().message();
      EXPECT_EQ(*back, value);
      const auto joined = join_frames(sent);
      ASSERT_TRUE(joined.has_value()) << joined.error().message();
      EXPECT_TRUE(std::ranges::equal(joined->header.bytes(), whole.header.bytes()));
      ASSERT_EQ(joined->frames.size(), whole.frames.size());
      for (std::size_t i = 0; i < whole.frames.size(); ++i)
        EXPECT_TRUE(std::ranges::equal(joined->frames[i].bytes(), whole.frames[i].bytes()));
    }
  }
}

TEST_P(in_pieces, frames_that_lie_together_are_joined_in_place) {
  const auto whole = encoded(some_sheets());
  const auto joined = join_frames(split_frames(whole, 1'000).value());
  ASSERT_TRUE(joined.has_value());
  for (std::size_t i = 0; i < whole.frames.size(); ++i)
    EXPECT_EQ(joined->frames[i].bytes().data(), whole.frames[i].bytes().data());
}

TEST_P(in_pieces, frames_are_split_again_and_again) {
  const auto whole = encoded(some_sheets());
  const auto twice = split_frames(split_frames(whole, 5'000).value(), 1'200).value();
  for (const auto& each : twice.frames)
    EXPECT_LE(each.size_bytes(), 1'200U);
  EXPECT_EQ(decoded<sheets>(twice).value(), some_sheets());
}

TEST_P(in_pieces, what_is_small_stays_as_it_is) {
  const auto whole = encoded(some_sheets());
  const auto split = split_frames(whole).value();
  EXPECT_EQ(split.header.bytes().data(), whole.header.bytes().data());
  EXPECT_EQ(split.frames.size(), whole.frames.size());
}

TEST_P(in_pieces, frames_do_not_make_more_than_the_limits_allow) {
  const auto split = split_frames(encoded(some_sheets()), 2'000).value();
  ctx.limits.body_bytes = 5'000;
  ctx.limits.frame_bytes = 5'000;
  EXPECT_EQ(code_of<sheets>(split), serialize_errc::limit_exceeded) << "none of its pieces is as large";
  ctx.limits = {};
  ctx.limits.memory_bytes = 10'000;
  EXPECT_EQ(code_of<sheets>(copied_apart(split)), serialize_errc::limit_exceeded);
  ctx.limits = {};
  ctx.limits.frames = 3;
  EXPECT_EQ(code_of<sheets>(split), serialize_errc::limit_exceeded);
}

TEST_P(in_pieces, frames_that_are_joined_take_memory_beside_what_is_made_of_them) {
  constexpr std::size_t most = 2'000;
  const auto least_memory_for = [&](const payload& sent) {
    std::size_t refused = 0;
    std::size_t enough = 4_MiB;
    while (enough - refused > 1) {
      ctx.limits.memory_bytes = refused + (enough - refused) / 2;
      const auto is_enough = code_of<sheets>(sent) == serialize_errc::none;
      (is_enough ? enough : refused) = ctx.limits.memory_bytes;
    }
    ctx.limits = {};
    return enough;
  };
  const auto whole = encoded(some_sheets());
  std::size_t joined_bytes = 0;
  for (const auto& each : whole.frames)
    joined_bytes += each.size_bytes() > most ? each.size_bytes() : 0;
  ASSERT_GT(joined_bytes, 0U);
  EXPECT_EQ(least_memory_for(copied_apart(split_frames(whole, most).value())), least_memory_for(whole) + joined_bytes);
}

TEST_P(in_pieces, lies_are_refused) {
  const auto whole = encoded(std::string("text"));
  for (const auto& note :
       {with_note(whole, {0}), with_note(whole, {2}), with_note(whole, {1, 1}), with_note(whole, {0x80}),
        with_note(whole, {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1}),
        with_note({whole.header, {whole.frames[0], frame()}}, {1})}) {
    EXPECT_EQ(code_of<std::string>(note), serialize_errc::malformed);
    EXPECT_FALSE(join_frames(note).has_value());
    EXPECT_FALSE(split_frames(note, 1).has_value());
  }
  EXPECT_EQ(decoded<std::string>(with_note(whole, {1})), "text");
}

// Some pieces of a frame are compressed and others are not.
TEST_P(in_pieces, compressed_frames_are_joined_as_they_are_decompressed) {
  std::vector<double> values(20'000'000, 0.5);
  for (std::size_t i = 8'500'000; i < 17'000'000; ++i)
    values[i] = static_cast<double>((i * 2'654'435'761U) ^ (i << 20));
  if (!GetParam().attaches_frames || std::string_view(GetParam().name) == "msgpack")
    GTEST_SKIP() << "its numbers lie in the body";
  const array<double> large(std::move(values));
  auto compressing = ctx;
  compressing.compression = compression::lz4;
  const auto sent = made_of(large, compressing);
  ASSERT_TRUE(sent.has_value()) << sent.error().message();
  EXPECT_EQ(sent->frames.size(), 4U) << "body and three pieces";
  EXPECT_LT(sent->size_bytes(), 100'000'000U);
  const auto back = decoded<array<double>>(*sent);
  ASSERT_TRUE(back.has_value()) << back.error().message();
  EXPECT_EQ(*back, large);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(back->data()) % 64, 0U);
  const auto failed = split_frames(*sent, 10'000);
  ASSERT_FALSE(failed.has_value());
  EXPECT_EQ(failed.error().code(), serialize_errc::not_supported);
}

} // namespace
