// Goal: for any text, decoding ends soon, takes no more memory than its budget, and reports the mistake in the text.
// Method: every allocation of this program is counted.
#include <gtest/gtest.h>

#include <troupe/serializers/json/described.hpp>

#include "allocated_bytes.hpp"
#include "rich.hpp"

namespace {

using namespace troupe;
using namespace std::literals;

struct unaware {
  int known = 0;
};
TROUPE_DESCRIBE(unaware, known)

struct large {
  std::string names[16];
};
TROUPE_DESCRIBE(large, names)

// Decodes the text, which must fail. Returns the number of bytes that decoding allocated.
template <class T>
std::size_t cost_of(const std::string& text, serialize_errc expected) {
  const auto before = allocated_bytes.load();
  const auto back = json::decode_described<T>(text);
  const auto cost = allocated_bytes.load() - before;
  EXPECT_FALSE(back.has_value());
  EXPECT_EQ(back ? serialize_errc::none : back.error().code(), expected) << back.error().message();
  return cost;
}

struct refused {
  std::string_view text;
  std::string_view reason;
};

template <class T>
void expect_refused(std::span<const refused> cases) {
  for (const auto& [text, reason] : cases) {
    const auto back = json::decode_described<T>(text);
    ASSERT_FALSE(back.has_value()) << text;
    EXPECT_EQ(back.error().message(), "json: value: " + std::string(reason)) << text;
    EXPECT_EQ(back.error().code(), serialize_errc::malformed);
  }
}

TEST(hostile_json, is_no_json) {
  constexpr refused cases[] = {
      {""sv, "at byte 0: the text ends too early"},
      {"  "sv, "at byte 2: the text ends too early"},
      {"\xef\xbb\xbf{}"sv, "at byte 0: no value begins with the byte 0xef"},
      {"\0{}"sv, "at byte 0: no value begins with the byte 0x00"},
      {"{}\0"sv, "1 bytes are left over"},
      {"{}{}"sv, "2 bytes are left over"},
      {"{} //"sv, "2 bytes are left over"},
      {"/* */{}"sv, "at byte 0: no value begins with '/'"},
      {"{/**/}"sv, "at byte 1: expected a key, which is a text, found '/'"},
      {"{,}"sv, "at byte 1: expected a key, which is a text, found ','"},
      {"{"sv, "at byte 1: the text ends too early"},
      {"{\"a\""sv, "at byte 4: the text ends too early"},
      {"{\"a\" 1}"sv, "at byte 5: expected ':' behind a key, found '1'"},
      {"{\"a\":}"sv, "at byte 5: no value begins with '}'"},
      {"{\"a\":1,}"sv, "at byte 7: a comma with nothing behind it"},
      {"{\"a\":1 \"b\":2}"sv, "at byte 7: expected ',' or the end, found '\"'"},
      {"{\"a\":1]"sv, "at byte 6: expected ',' or the end, found ']'"},
      {"{a:1}"sv, "at byte 1: expected a key, which is a text, found 'a'"},
      {"{1:1}"sv, "at byte 1: expected a key, which is a text, found '1'"},
      {"{'a':1}"sv, "at byte 1: expected a key, which is a text, found '''"},
      {"{\"a\":[1,]}"sv, "at byte 8: a comma with nothing behind it"},
      {"{\"a\":[,1]}"sv, "at byte 6: no value begins with ','"},
      {"{\"a\":[1 2]}"sv, "at byte 8: expected ',' or the end, found '2'"},
      {"{\"a\":[1}"sv, "at byte 7: expected ',' or the end, found '}'"},
      {"{\"a\":NaN}"sv, "at byte 5: no value begins with 'N'"},
      {"{\"a\":nan}"sv, "at byte 5: no value begins like this"},
      {"{\"a\":Infinity}"sv, "at byte 5: no value begins with 'I'"},
      {"{\"a\":-Infinity}"sv, "at byte 6: a digit is missing"},
      {"{\"a\":nul}"sv, "at byte 5: no value begins like this"},
      {"{\"a\":tru"sv, "at byte 5: no value begins like this"},
      {"{\"a\":TRUE}"sv, "at byte 5: no value begins with 'T'"},
      {"[]"sv, "expected a map, found a list"},
  };
  expect_refused<unaware>(cases);
}

TEST(hostile_json, has_numbers_that_are_none) {
  constexpr refused cases[] = {
      {"01"sv, "at byte 2: a number that begins with 0"},
      {"-01.5"sv, "at byte 3: a number that begins with 0"},
      {"-"sv, "at byte 1: the text ends too early"},
      {"+1"sv, "at byte 0: no value begins with '+'"},
      {".5"sv, "at byte 0: no value begins with '.'"},
      {"1."sv, "at byte 2: the text ends too early"},
      {"1.e5"sv, "at byte 2: a digit is missing"},
      {"1e"sv, "at byte 2: the text ends too early"},
      {"1e+ "sv, "at byte 3: a digit is missing"},
      {"0x10"sv, "3 bytes are left over"},
      {"1f"sv, "1 bytes are left over"},
      {"1,5"sv, "2 bytes are left over"},
      {"1e999999999"sv, "at byte 11: a number larger than any double"},
      {"-1e999999999999999999999999999999"sv, "at byte 33: a number larger than any double"},
      {"\"nan\""sv, "expected f64, found a text"},
  };
  expect_refused<double>(cases);
}

TEST(hostile_json, has_texts_that_are_none) {
  constexpr refused cases[] = {
      {"\""sv, "at byte 1: the text ends too early"},
      {"\"a"sv, "at byte 2: the text ends too early"},
      {"\"\\"sv, "at byte 1: no escape that stands for a character"},
      {"\"\\\""sv, "at byte 3: the text ends too early"},
      {"\"\\x\""sv, "at byte 1: no escape that stands for a character"},
      {"\"\\u12\""sv, "at byte 1: no escape that stands for a character"},
      {"\"\\u12g4\""sv, "at byte 1: no escape that stands for a character"},
      {"\"\\ud800\""sv, "at byte 1: no escape that stands for a character"},
      {"\"\\ud800x\""sv, "at byte 1: no escape that stands for a character"},
      {"\"\\ud800\\u0041\""sv, "at byte 1: no escape that stands for a character"},
      {"\"\\ud800\\ud800\""sv, "at byte 1: no escape that stands for a character"},
      {"\"\\udc00\""sv, "at byte 1: no escape that stands for a character"},
      {"\"a\nb\""sv, "at byte 2: a control character that is not escaped"},
      {"\"a\0b\""sv, "at byte 2: a control character that is not escaped"},
      {"\"\x80\""sv, "at byte 1: invalid UTF-8"},
      {"\"\xc0\x80\""sv, "at byte 1: invalid UTF-8"},
      {"\"\xed\xa0\x80\""sv, "at byte 1: invalid UTF-8"},
      {"\"\xf4\x90\x80\x80\""sv, "at byte 1: invalid UTF-8"},
      {"\"\xe2\x82\""sv, "at byte 1: invalid UTF-8"},
      {"\"\xf0\x9f"sv, "at byte 1: invalid UTF-8"},
      {"\"\xff\""sv, "at byte 1: invalid UTF-8"},
      {"'a'"sv, "at byte 0: no value begins with '''"},
      {"{\"$text\":\"!\"}"sv, "at byte 12: the text that ends here is no base64"},
  };
  expect_refused<std::string>(cases);
  for (const auto& [text, reason] : cases) // Skipped texts are checked as strictly.
    EXPECT_FALSE(json::decode_described<unaware>("{\"new\":" + std::string(text) + "}").has_value()) << text;
}

TEST(hostile_json, nests_without_end) {
  constexpr std::size_t levels = 2'000'000;
  const std::string lists(levels, '[');
  EXPECT_LT(cost_of<rich::tree>("{\"children\":" + lists, serialize_errc::malformed), 65'536U);
  EXPECT_LT(cost_of<std::vector<std::vector<int>>>(lists, serialize_errc::malformed), 65'536U);
  EXPECT_LT(cost_of<array<int>>("{\"data\":" + lists, serialize_errc::limit_exceeded), 65'536U);
  EXPECT_LT(cost_of<unaware>("{\"new\":" + lists, serialize_errc::limit_exceeded), 133'120U) << "to be skipped";
  for (const auto* each : {R"({"next":)", R"({"children":[)", R"({"new":)", R"({"next":{"$id":0,"$value":)"}) {
    std::string trees;
    while (trees.size() < levels)
      trees += each;
    const auto before = allocated_bytes.load();
    EXPECT_FALSE(json::decode_described<rich::tree>(trees).has_value());
    EXPECT_LT(allocated_bytes.load() - before, 262'144U) << each;
  }
}

TEST(hostile_json, goes_on_and_on) {
  const std::string digits(8'000'000, '7');
  EXPECT_LT(cost_of<double>(digits, serialize_errc::malformed), 4096U);
  EXPECT_LT(cost_of<int>("0." + digits, serialize_errc::layout_mismatch), 4096U);
  EXPECT_LT(cost_of<double>("1e" + digits, serialize_errc::malformed), 4096U);
  EXPECT_LT(cost_of<unaware>("{\"new\":" + digits, serialize_errc::malformed), 4096U);
  EXPECT_LT(cost_of<unaware>(std::string(8'000'000, ' '), serialize_errc::malformed), 4096U);
  EXPECT_LT(cost_of<std::string>("\"" + digits, serialize_errc::malformed), 4096U);
  limits bounds;
  bounds.text_bytes = 1000;
  for (const auto& text : {digits, "\"" + digits + "\"", "{\"$text\":\"" + digits + "\"}"})
    EXPECT_EQ(json::decode_described<std::string>(text, bounds).has_value(), false);
  EXPECT_EQ(json::decode_described<double>(digits, bounds).error().message(),
            "json: value: a text of 8,000,000 bytes, limit 1,000 (limits::text_bytes)");
}

TEST(hostile_json, multiplies) {
  // Every three bytes ask for an element of hundreds of bytes.
  std::string many = "[";
  for (int i = 0; i < 300'000; ++i)
    many += "{},";
  EXPECT_LT(cost_of<std::vector<large>>(many, serialize_errc::limit_exceeded), 64 * many.size() + 2_MiB);
  std::string rows = R"({"data":[)";
  for (int i = 0; i < 300'000; ++i)
    rows += "[],";
  EXPECT_LT(cost_of<array<double>>(rows, serialize_errc::malformed), 64 * rows.size() + 2_MiB);
}

TEST(hostile_json, has_more_keys_than_memory_for_them) {
  std::string keys = "{";
  std::string escaped = "{";
  for (int i = 0; i < 100'000; ++i) {
    keys += "\"" + std::to_string(i) + "\":0,";
    escaped += "\"\\u0041" + std::to_string(i) + "\":0,";
  }
  for (const auto& text : {keys, escaped}) {
    EXPECT_LT(cost_of<unaware>(text, serialize_errc::malformed), 64 * text.size() + 1_MiB);
    EXPECT_LT(cost_of<unaware>("{\"new\":" + text, serialize_errc::malformed), 64 * text.size() + 1_MiB);
    limits bounds;
    bounds.memory_bytes = 64_KiB;
    const auto before = allocated_bytes.load();
    const auto back = json::decode_described<unaware>("{\"new\":" + text, bounds);
    EXPECT_EQ(back.error().code(), serialize_errc::limit_exceeded);
    EXPECT_LT(allocated_bytes.load() - before, 128_KiB + text.size());
    bounds = {};
    bounds.elements = 1000;
    EXPECT_EQ(json::decode_described<unaware>("{\"new\":" + text, bounds).error().code(),
              serialize_errc::limit_exceeded);
  }
}

TEST(hostile_json, pays_for_what_escapes_and_base64_become) {
  limits bounds;
  bounds.memory_bytes = 64_KiB;
  std::string escapes = "\"";
  for (int i = 0; i < 100'000; ++i)
    escapes += "\\n";
  escapes += "\"";
  const auto base64 = "{\"$bytes\":\"" + std::string(400'000, 'A') + "\"}";
  const auto before = allocated_bytes.load();
  EXPECT_EQ(json::decode_described<std::string>(escapes, bounds).error().code(), serialize_errc::limit_exceeded);
  EXPECT_EQ(json::decode_described<frame>(base64, bounds).error().code(), serialize_errc::limit_exceeded);
  EXPECT_EQ(json::decode_described<std::vector<std::byte>>(base64, bounds).error().code(),
            serialize_errc::limit_exceeded);
  EXPECT_LT(allocated_bytes.load() - before, 64_KiB);
}

// Goal: no single flipped bit makes decoding take much memory, or gives a value that cannot be encoded again.
TEST(hostile_json, has_any_bit_flipped) {
  type_registry types;
  rich::add_to(types);
  const family_set families;
  const auto sent = *serialize(rich::full(), {.serializers = {"json"}}, types, families);
  const auto text = rich::text_of(sent.frames[0]);
  std::size_t accepted = 0;
  for (std::size_t bit = 0; bit < text.size() * 8; ++bit) {
    auto flipped = text;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    const payload received{sent.header, {rich::frame_of(flipped)}};
    const auto before = allocated_bytes.load();
    const auto back = deserialize<rich::everything>(received, {.deserializers = {"json"}}, types, families);
    EXPECT_LT(allocated_bytes.load() - before, 65'536U) << flipped;
    if (!back) {
      EXPECT_TRUE(back.error().message().starts_with("json: everything")) << back.error().message();
      continue;
    }
    ++accepted;
    EXPECT_TRUE(serialize(*back, {.serializers = {"json"}, .on_error = on_error::raise}, types, families)) << flipped;
  }
  EXPECT_GT(accepted, 0U);
}

} // namespace
