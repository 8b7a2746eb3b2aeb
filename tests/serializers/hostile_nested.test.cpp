// Goal: as in hostile.test.cpp, for payloads that consist of payloads: `serialized` inside messages, collections sent
// element by element, and types sent attribute by attribute.
#include <troupe/serializers/internal/payload/part_payloads.hpp>
#include <troupe/serializers/msgpack/described.hpp>

#include "hostile.hpp"

namespace {

using namespace hostile;
using namespace std::literals;
using enum serialize_errc;
using detail::payload_part;
using detail::payload_parts;

class hostile_payloads : public testing::TestWithParam<attack> {};

TEST_P(hostile_payloads, are_repelled) {
  expect_repelled(GetParam());
}

frame header_saying(std::string_view family, std::string_view type, std::span<const std::byte> schema = {},
                    std::span<const std::byte> extra = {}) {
  return make_header({.family = family, .type = type, .schema = schema, .extra = extra});
}

template <class T>
payload whole(const T& value) {
  return *serialize(value, {.serializers = {"typed"}, .on_error = on_error::raise, .context = {}}, types(), families());
}

// -- payloads inside messages

// An envelope of the family `typed`: an empty address, and the number of the inner payload's frames, which follow.
attack envelope_of(std::string name, serialize_errc expected, const std::string& count, std::vector<frame> frames) {
  return by<envelope>("typed", "envelope_" + std::move(name), expected, bytes({0}) + count, std::move(frames));
}

std::vector<attack> on_envelopes() {
  return {
      envelope_of("without_its_header", malformed, bytes({0}), {}),
      envelope_of("with_frames_and_no_header", malformed, bytes({1}), {frame(), frame()}),
      envelope_of("of_a_header_that_is_nonsense", malformed, bytes({0}), {rich::frame_of("\xff")}),
      envelope_of("of_a_header_that_is_a_list", malformed, bytes({0}), {rich::frame_of("\x90")}),
      envelope_of("of_a_header_of_a_megabyte", limit_exceeded, bytes({0}),
                  {frame::adopt(std::vector<std::byte>(1_MiB))}),
      envelope_of("of_a_family_that_nobody_knows", refused_family, bytes({0}), {header_saying("none", "i32")}),
      envelope_of("of_frames_that_are_not_there", malformed, bytes({3}), {header_saying("typed", "i32"), frame()}),
      envelope_of("of_two_billion_frames", limit_exceeded, bytes({0x80, 0x80, 0x80, 0x80, 0x08}),
                  {header_saying("typed", "i32")}),
      envelope_of("with_frames_behind", malformed, bytes({0}), {header_saying("typed", "i32"), frame()}),
      by<envelope>("json", "envelope_of_frames_that_are_no_base64", malformed,
                   R"({"to":"","content":{"header":"!","frames":[]}})"),
      by<envelope>("msgpack", "envelope_of_a_frame_twice", malformed,
                   "\x81\xa7"
                   "content\x82\xa6header\xd6\x03\0\0\0\0\xa6"
                   "frames\x91\xd6\x03\0\0\0\0"s,
                   {header_saying("msgpack", "i32")}),
  };
}
INSTANTIATE_TEST_SUITE_P(envelopes, hostile_payloads, testing::ValuesIn(on_envelopes()), name_of_attack);

TEST(hostile_envelopes, keep_what_lies_inside_until_somebody_asks) {
  const auto inner = header_by<names>("typed");
  const auto lie =
      rich::frame_of(typed_prelude(types().find<names>()->schema()) + bytes({0xff, 0xff, 0xff, 0xff, 0x0f}));
  const auto attack = envelope_of("", none, bytes({1}), {inner, lie});
  const auto back = deserialize<envelope>(attack.sent, {}, types(), families());
  ASSERT_TRUE(back.has_value()) << back.error().message();
  const auto before = allocated_bytes.load();
  const auto value = back->content.get<names>({}, types(), families());
  EXPECT_LT(allocated_bytes.load() - before, 64_KiB);
  ASSERT_FALSE(value.has_value());
  EXPECT_EQ(value.error().code(), malformed);
}

// Goal: only one level is read, whatever the number of levels.
TEST(hostile_envelopes, within_each_other_10000_times) {
  constexpr std::size_t levels = 10'000;
  const auto header = header_by<envelope>("typed");
  const auto prelude = typed_prelude(types().find<envelope>()->schema());
  payload sent{header, {}};
  for (std::size_t level = levels; level > 0; --level) { // The body of each level, and the header of the next.
    const auto frames_inside = 2 * (level - 1);
    std::string count;
    for (auto rest = frames_inside;; rest >>= 7) {
      count += static_cast<char>(rest >= 0x80 ? rest | 0x80 : rest);
      if (rest < 0x80)
        break;
    }
    sent.frames.push_back(rich::frame_of(prelude + bytes({0}) + count));
    sent.frames.push_back(header);
  }
  const auto result = decode<envelope>(sent);
  EXPECT_EQ(result.code, none) << result.message;
  EXPECT_LT(result.allocated, 4_MiB);
  EXPECT_LT(result.seconds, seconds_max);
  auto layer = *deserialize<envelope>(sent, {}, types(), families());
  for (int peeled = 0; peeled < 20; ++peeled) {
    auto next = layer.content.get<envelope>({}, types(), families());
    ASSERT_TRUE(next.has_value()) << next.error().message();
    layer = *std::move(next);
  }
  EXPECT_EQ(layer.content.encoded().frames.size(), 2 * (levels - 21));
}

// -- collections element by element

attack parts_of(std::string name, serialize_errc expected, const payload_parts& parts, std::vector<frame> frames,
                outcome (*into)(const payload&, const context&), std::string_view alias,
                std::size_t allocated_max = 64_KiB) {
  frames.insert(frames.begin(), frame::adopt(msgpack::encode_described(parts)));
  return {.name = "elements_" + std::move(name),
          .expected = expected,
          .sent = {header_saying("elements", alias), std::move(frames)},
          .decode = into,
          .allocated_max = allocated_max};
}

template <class T>
attack elements(std::string name, serialize_errc expected, const payload_parts& parts, std::vector<frame> frames,
                std::size_t allocated_max = 64_KiB) {
  return parts_of(std::move(name), expected, parts, std::move(frames), &decode<T>, types().find<T>()->alias(),
                  allocated_max);
}

std::vector<std::byte> bytes_of(const frame& of) {
  return {of.bytes().begin(), of.bytes().end()};
}

// Returns a list of `count` parts that share one header and have `frames_each` frames each.
payload_parts listed(std::vector<std::byte> header, std::size_t count, std::uint64_t frames_each = 1) {
  return {.names = {""},
          .headers = {std::move(header)},
          .parts = std::vector<payload_part>(count, {.name = 0, .header = 0, .frames = frames_each})};
}

std::vector<attack> on_elements() {
  const auto text = whole("a"s);
  const auto header = bytes_of(text.header);
  const auto number = whole(std::int32_t{1});
  const auto numbers = bytes_of(number.header);
  constexpr auto most = UINT64_MAX;
  auto raw = elements<names>("that_are_no_list", malformed, {}, {});
  raw.sent.frames[0] = rich::frame_of("\xdd\xff\xff\xff\xff");
  auto missing = raw;
  missing.name = "elements_without_frames";
  missing.sent.frames.clear();
  return {
      raw,
      missing,
      elements<flag>("of_what_is_no_collection", malformed, {}, {}),
      elements<names>("of_more_frames_than_there_are", malformed, listed(header, 1, 2), {text.frames[0]}),
      elements<names>("of_all_frames_there_could_be", malformed, listed(header, 2, most), {text.frames[0]}),
      elements<names>("of_no_frames", malformed, listed(header, 2, 0), {}),
      elements<names>("with_frames_behind", malformed, listed(header, 1), {text.frames[0], frame()}),
      elements<names>("of_an_empty_frame", malformed, listed(header, 1), {frame()}),
      elements<names>("of_a_name_that_is_not_there", malformed, {{""}, {header}, {{most, 0, 1}}}, {text.frames[0]}),
      elements<names>("of_a_header_that_is_not_there", malformed, {{""}, {header}, {{0, 1, 1}}}, {text.frames[0]}),
      elements<names>("of_a_header_that_is_nonsense", malformed, listed({std::byte{0xff}}, 1), {text.frames[0]}),
      elements<names>("of_a_header_that_is_too_large", limit_exceeded, listed(std::vector<std::byte>(1_MiB), 1),
                      {text.frames[0]}, 4_MiB),
      elements<names>("of_a_family_that_nobody_knows", refused_family,
                      listed(bytes_of(header_saying("none", "str")), 1), {text.frames[0]}),
      elements<names>("within_elements_of_what_is_no_collection", malformed,
                      listed(bytes_of(header_saying("elements", "str")), 1), {text.frames[0]}),
      elements<names>("of_another_type", layout_mismatch, listed(bytes_of(header_saying("typed", "str")), 1),
                      {number.frames[0]}),
      elements<by_number>("that_are_half_a_pair", malformed, listed(numbers, 3),
                          std::vector<frame>(3, number.frames[0])),
      elements<by_number>("of_a_key_twice", malformed, listed(numbers, 4), std::vector<frame>(4, number.frames[0])),
      elements<numbers_once>("twice", malformed, listed(numbers, 2), std::vector<frame>(2, number.frames[0])),
      elements<names>("of_a_million_parts", malformed, listed(header, 1'000'000, 0), {}, 256_MiB),
      elements<names>("of_a_million_names", malformed, {.names = names(1'000'000), .headers = {}, .parts = {{0, 0, 0}}},
                      {}, 128_MiB),
      elements<names>("of_a_million_headers", malformed,
                      {.names = {}, .headers = std::vector<std::vector<std::byte>>(1'000'000), .parts = {}}, {},
                      160_MiB),
  };
}
INSTANTIATE_TEST_SUITE_P(elements, hostile_payloads, testing::ValuesIn(on_elements()), name_of_attack);

// Goal: the cost of reading one header is not paid for each of many tiny parts.
TEST(hostile_elements, of_many_parts_and_a_large_layout) {
  const auto layout = bytes({24, 0xb8, 0x17}) + repeated("\0\x0d"sv, 3'000); // 3,000 fields of nothing.
  const auto schema = as_bytes(layout);
  const auto header = header_saying("typed", "unaware", schema);
  const auto body = rich::frame_of(typed_prelude(schema));
  for (const std::size_t count : {1, 60'000}) {
    const auto attack =
        elements<std::vector<unaware>>("", none, listed(bytes_of(header), count), std::vector<frame>(count, body));
    const auto result = attack.decode(attack.sent, {});
    EXPECT_EQ(result.code, count == 1 ? none : limit_exceeded) << result.message;
    EXPECT_LT(result.seconds, seconds_max) << result.message;
  }
}

TEST(hostile_elements, of_many_parts_are_decoded_soon) {
  const auto text = whole("a"s);
  const auto sent =
      elements<names>("", none, listed(bytes_of(text.header), 60'000), std::vector<frame>(60'000, text.frames[0])).sent;
  const auto result = decode<names>(sent);
  EXPECT_EQ(result.code, none) << result.message;
  EXPECT_LT(result.seconds, seconds_max);
}

TEST(hostile_elements, take_from_the_memory_that_the_whole_may_take) {
  constexpr std::size_t count = 600;
  const auto text = whole(std::string(4'000, 'x'));
  ASSERT_EQ(text.frames.size(), 1U);
  const auto sent =
      elements<names>("", none, listed(bytes_of(text.header), count), std::vector<frame>(count, text.frames[0])).sent;
  context ctx;
  EXPECT_EQ(decode<names>(sent, ctx).code, none);
  ctx.limits.memory_bytes = 1_MiB; // Enough for each part alone.
  EXPECT_EQ(decode<names>(sent, ctx).code, limit_exceeded);
}

// -- types attribute by attribute

/// The content that the codec puts into the header, except that keys may repeat.
struct attributes {
  std::multimap<std::string, std::vector<std::byte>> small;
  payload_parts parts;
};
TROUPE_DESCRIBE(attributes, small, parts)

attack generic(std::string name, serialize_errc expected, const attributes& of, std::vector<frame> frames = {}) {
  frames.insert(frames.begin(), rich::frame_of("\x02"));
  return {.name = "generic_" + std::move(name),
          .expected = expected,
          .sent = {header_saying("typed", "model", {}, msgpack::encode_described(of)), std::move(frames)},
          .decode = &decode<model>};
}

std::vector<attack> on_attributes() {
  const auto notes = whole(names{"a"});
  const auto header = bytes_of(notes.header);
  const auto part = [&](std::string name) { return payload_parts{{std::move(name)}, {header}, {{0, 0, 1}}}; };
  const auto small = [](std::string_view value) { return as_bytes(value); };
  auto raw = generic("header_that_is_nonsense", malformed, {});
  raw.sent.header = header_saying("typed", "model", {}, small("\xff"));
  auto missing = raw;
  missing.name = "generic_header_that_is_missing";
  missing.sent.header = header_saying("typed", "model");
  auto foreign = generic("body_of_another_form", layout_mismatch, {});
  foreign.sent.frames[0] = rich::frame_of("\x01");
  return {
      raw,
      missing,
      foreign,
      generic("without_attributes", none, {}),
      generic("with_unknown_attributes", none, {{{"new", small("\x01")}}, part("newer")}, {notes.frames[0]}),
      generic("with_a_small_attribute_twice", malformed, {{{"epoch", small("\x01")}, {"epoch", small("\x02")}}, {}}),
      generic("with_an_attribute_in_both_places", malformed, {{{"notes", small("\x90")}}, part("notes")},
              {notes.frames[0]}),
      generic("with_a_large_attribute_twice", malformed, {{}, {{"notes"}, {header}, {{0, 0, 1}, {0, 0, 1}}}},
              {notes.frames[0], notes.frames[0]}),
      generic("with_an_attribute_that_is_cut", malformed, {{{"name", small("\xa5x")}}, {}}),
      generic("with_an_attribute_that_is_empty", malformed, {{{"name", {}}}, {}}),
      generic("with_an_attribute_and_bytes_behind", malformed, {{{"epoch", small("\x01\x01")}}, {}}),
      generic("with_an_attribute_of_another_sort", malformed, {{{"epoch", small("\xa1x")}}, {}}),
      generic("with_an_attribute_that_lies", malformed, {{{"weights", small("\xdd\xff\xff\xff\xff")}}, {}}),
      generic("with_an_attribute_nested_without_end", malformed, {{{"notes", as_bytes(repeated("\x91", 50'000))}}, {}}),
      generic("with_frames_that_are_not_there", malformed, {{}, part("notes")}),
      generic("with_frames_behind", malformed, {}, {frame()}),
      generic("with_an_attribute_of_a_family_that_nobody_knows", refused_family,
              {{}, {{"notes"}, {bytes_of(header_saying("none", ""))}, {{0, 0, 0}}}}),
  };
}
INSTANTIATE_TEST_SUITE_P(attributes, hostile_payloads, testing::ValuesIn(on_attributes()), name_of_attack);

} // namespace
