// Goal: a payload becomes one byte string and can be restored from it, whether the string arrives at once, in parts, or
// followed by another one. Bytes of unknown origin are checked before memory is taken.
#include <cstring>

#include <gmock/gmock.h>

#include <troupe/serializers/payload_bytes.hpp>

#include "every_family.hpp"

namespace {

using namespace conformance;
using testing::HasSubstr;

struct series {
  std::string title;
  array<double> values;
  std::vector<std::int16_t> rest;
  frame empty;
  bool operator==(const series& other) const {
    return title == other.title && values == other.values && rest == other.rest;
  }
};
TROUPE_DESCRIBE(series, title, values, rest, empty)

series some_series() {
  std::vector<double> values(1'000);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<double>(i) / 3;
  return {"series", array<double>(values), std::vector<std::int16_t>(4'001, 7), {}};
}

class as_bytes : public every_family {
protected:
  as_bytes() {
    add_cereal<series>(types, "series");
    add_cereal<std::int32_t>(types, "i32");
  }

  std::vector<std::byte> bytes_of(const auto& value) {
    const auto made = to_bytes(encoded(value));
    EXPECT_TRUE(made) << made.error().message();
    return *made;
  }
};

TEST_P(as_bytes, payloads_come_back) {
  const auto value = some_series();
  const auto before = encoded(value);
  const auto found = from_bytes(bytes_of(value));
  ASSERT_TRUE(found) << found.error().message();
  ASSERT_TRUE(found->is_complete());
  EXPECT_TRUE(found->rest.empty());
  ASSERT_EQ(found->value.frames.size(), before.frames.size());
  for (std::size_t i = 0; i < before.frames.size(); ++i)
    EXPECT_TRUE(std::ranges::equal(found->value.frames[i].bytes(), before.frames[i].bytes()));
  const auto back = decoded<series>(found->value);
  ASSERT_TRUE(back) << back.error().message();
  EXPECT_EQ(*back, value);
}

TEST_P(as_bytes, strings_may_stand_one_behind_the_other) {
  auto all = bytes_of(some_series());
  const auto first_bytes = all.size();
  const auto second = bytes_of(std::int32_t{7});
  all.insert(all.end(), second.begin(), second.end());
  const auto first = from_bytes(all);
  ASSERT_TRUE(first && first->is_complete());
  EXPECT_EQ(first->used_bytes, first_bytes);
  EXPECT_EQ(first->rest.size(), second.size());
  const auto next = from_bytes(first->rest);
  ASSERT_TRUE(next && next->is_complete());
  EXPECT_TRUE(next->rest.empty());
  EXPECT_EQ(*decoded<std::int32_t>(next->value), 7);
}

TEST_P(as_bytes, a_string_may_end_anywhere_and_says_how_much_is_missing) {
  const auto all = bytes_of(some_series());
  const auto frames = encoded(some_series()).frames.size();
  for (std::size_t have = 0; have < all.size(); ++have) {
    const auto found = from_bytes(std::span(all).first(have));
    ASSERT_TRUE(found) << have << ": " << found.error().message();
    ASSERT_FALSE(found->is_complete());
    ASSERT_EQ(found->used_bytes, 0U);
    ASSERT_EQ(found->rest.size(), have);
    ASSERT_TRUE(found->value.frames.empty());
    if (have >= 16 + 8 * frames)
      ASSERT_EQ(found->missing_bytes, all.size() - have);
    else
      ASSERT_LE(have + found->missing_bytes, 16 + 8 * frames);
  }
}

// Reads like a program with a socket: always exactly the missing bytes.
TEST_P(as_bytes, are_read_in_three_steps) {
  const auto all = bytes_of(some_series());
  std::vector<std::byte> read;
  int steps = 0;
  for (;; ++steps) {
    const auto found = from_bytes(read);
    ASSERT_TRUE(found);
    if (found->is_complete())
      break;
    ASSERT_LE(read.size() + found->missing_bytes, all.size());
    read.insert(read.end(), all.begin() + static_cast<std::ptrdiff_t>(read.size()),
                all.begin() + static_cast<std::ptrdiff_t>(read.size() + found->missing_bytes));
  }
  EXPECT_EQ(read.size(), all.size());
  EXPECT_EQ(steps, 3);
}

TEST_P(as_bytes, of_memory_that_is_given_away_are_viewed) {
  const auto whole = frame::copy_of(bytes_of(some_series()));
  const auto found = from_bytes(whole);
  ASSERT_TRUE(found && found->is_complete());
  for (const auto& each : found->value.frames) {
    EXPECT_GE(each.bytes().data(), whole.bytes().data());
    EXPECT_LE(each.bytes().data() + each.size_bytes(), whole.bytes().data() + whole.size_bytes());
    if (each.size_bytes() >= out_of_band_bytes) {
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(each.bytes().data()) % 64, 0U);
    }
  }
  const auto back = decoded<series>(found->value);
  ASSERT_TRUE(back);
  EXPECT_EQ(*back, some_series());
}

TEST_P(as_bytes, large_arrays_do_not_keep_each_other) {
  const auto found = from_bytes(bytes_of(some_series()));
  ASSERT_TRUE(found);
  const auto& frames = found->value.frames;
  for (std::size_t i = 0; i < frames.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (frames[i].size_bytes() >= out_of_band_bytes) {
        EXPECT_NE(frames[i].owner(), frames[j].owner());
      }
}

INSTANTIATE_TEST_SUITE_P(, as_bytes, testing::ValuesIn(all_families), name_of_row);

class bytes_of_one_number : public testing::Test {
protected:
  bytes_of_one_number() {
    types.add<std::int32_t>("i32");
    good = *to_bytes(*serialize(std::int32_t{7}, {}, types, families));
  }

  std::vector<std::byte> with(std::size_t at, std::uint64_t value, std::size_t width) const {
    auto changed = good;
    std::memcpy(changed.data() + at, &value, width);
    return changed;
  }
  static serialize_error error_of(std::span<const std::byte> bytes, const limits& bounds = {}) {
    const auto found = from_bytes(bytes, bounds);
    EXPECT_FALSE(found);
    return found ? serialize_error(serialize_errc::none, "") : found.error();
  }

  type_registry types;
  family_set families;
  std::vector<std::byte> good;
};

TEST_F(bytes_of_one_number, are_the_same_in_every_version_of_this_program) {
  constexpr std::string_view golden =
      "5450617901000000140000000100000009000000000000008" // As payload_bytes.md shows them.
      "3a166a57479706564a174a3693332a173c40104015f08622907000000";
  std::string hex;
  for (const auto byte : good) {
    hex += "0123456789abcdef"[std::to_integer<int>(byte) >> 4];
    hex += "0123456789abcdef"[std::to_integer<int>(byte) & 15];
  }
  EXPECT_EQ(hex, golden);
}

TEST_F(bytes_of_one_number, are_refused_at_the_first_byte_that_is_wrong) {
  const auto other = with(0, 'X', 1);
  EXPECT_EQ(error_of(std::span(other).first(1)).code(), serialize_errc::malformed);
  EXPECT_THAT(error_of(other).message(), HasSubstr("do not begin with \"TPay\""));
  const auto newer = with(4, 2, 1);
  EXPECT_EQ(error_of(std::span(newer).first(5)).code(), serialize_errc::layout_mismatch);
  EXPECT_THAT(error_of(newer).message(), HasSubstr("of version 2, this Troupe reads version 1"));
  for (const auto at : {5, 6, 7})
    EXPECT_EQ(error_of(with(static_cast<std::size_t>(at), 1, 1)).code(), serialize_errc::malformed);
}

TEST_F(bytes_of_one_number, announce_no_more_than_the_limits_allow) {
  const auto limit_of = [&](const std::vector<std::byte>& bytes, const limits& bounds = {}) {
    const auto error = error_of(bytes, bounds);
    EXPECT_EQ(error.code(), serialize_errc::limit_exceeded);
    return error.message();
  };
  EXPECT_THAT(limit_of(with(8, 0xffffffff, 4)), HasSubstr("limits::header_bytes"));
  EXPECT_THAT(limit_of(with(12, 0xffffffff, 4)), HasSubstr("limits::frames"));
  EXPECT_THAT(limit_of(with(16, UINT64_MAX, 8)), HasSubstr("limits::body_bytes"));
  EXPECT_THAT(limit_of(good, {.frames = 0}), HasSubstr("limits::frames"));
  EXPECT_THAT(limit_of(good, {.body_bytes = 8}), HasSubstr("limits::body_bytes"));
  // The bytes that can be addressed are also a bound, whatever the limits are.
  EXPECT_THAT(limit_of(with(16, UINT64_MAX, 8), {.body_bytes = SIZE_MAX}), HasSubstr("can address"));
  EXPECT_THAT(limit_of(with(16, UINT64_MAX - 60, 8), {.body_bytes = SIZE_MAX}), HasSubstr("can address"));
}

TEST_F(bytes_of_one_number, with_a_header_that_is_none_are_refused) {
  EXPECT_EQ(error_of(with(24, 0xc1, 1)).code(), serialize_errc::malformed);
  const auto nothing = to_bytes(payload());
  ASSERT_FALSE(nothing);
  EXPECT_EQ(nothing.error().code(), serialize_errc::malformed);
}

TEST_F(bytes_of_one_number, have_one_spelling) {
  const auto spaced = *to_bytes(*serialize(array<double>(std::vector<double>(1'000)), {}, types, families));
  std::size_t zeros = 0;
  for (auto at = spaced.size() - 8'000; spaced[--at] == std::byte{};)
    ++zeros;
  ASSERT_GT(zeros, 0U);
  auto changed = spaced;
  changed[spaced.size() - 8'001] = std::byte{1};
  EXPECT_THAT(error_of(changed).message(), HasSubstr("between the payload's frames are not zero"));
}

} // namespace
