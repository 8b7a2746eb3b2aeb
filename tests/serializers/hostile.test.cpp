// Goal: for any bytes, decoding ends soon with the right error and takes no more memory than its budget.
// Method: there is a table per family of inputs that a hostile sender may write. Every allocation of this program is
// counted. More attacks on the family json are in json_hostile.test.cpp, on typed in hostile_typed.test.cpp, and with
// payloads within payloads in hostile_nested.test.cpp.
#include <troupe/serializers/msgpack/described.hpp>

#include "hostile.hpp"

namespace {

using namespace hostile;
using namespace std::literals;
using enum serialize_errc;

class hostile_bytes : public testing::TestWithParam<attack> {};

TEST_P(hostile_bytes, are_repelled) {
  expect_repelled(GetParam());
}

template <class T>
attack msgpack(std::string name, serialize_errc expected, std::string_view body, std::vector<frame> frames = {}) {
  return by<T>("msgpack", std::move(name), expected, std::string(body), std::move(frames));
}

// Returns a shared object at its first appearance with its number, and a reference to it.
std::string shared_leaf(int number) {
  return "\x92\xd6\x02\0\0\0"s + static_cast<char>(number) + "\x81\xa4name\xa1x";
}
std::string leaf_again(int number) {
  return "\xd6\x01\0\0\0"s + static_cast<char>(number);
}

std::vector<attack> on_msgpack() {
  std::vector<attack> all = {
      msgpack<names>("array32_of_four_billion", malformed, "\xdd\xff\xff\xff\xff"sv),
      msgpack<names>("array16_of_nothing", malformed, "\xdc\xff\xff"sv),
      msgpack<names>("array32_cut", malformed, "\xdd\xff"sv),
      msgpack<names>("short_array_cut", malformed, "\x9f"sv),
      msgpack<std::vector<large>>("array32_of_large_elements", malformed, "\xdd\x7f\xff\xff\xff"sv),
      msgpack<by_number>("map32_of_four_billion", malformed, "\xdf\xff\xff\xff\xff"sv),
      msgpack<std::string>("text32_of_four_billion", malformed, "\xdb\xff\xff\xff\xffx"sv),
      msgpack<std::string>("text8_cut", malformed, "\xd9"sv),
      msgpack<std::string>("text_longer_than_the_rest", malformed, "\xa5x"sv),
      msgpack<std::vector<std::byte>>("bin32_of_a_gigabyte", malformed, "\xc6\x40\x00\x00\x00"sv),
      msgpack<std::vector<rich::point>>("structures_with_no_fields_to_come", malformed, "\x91\x8f"sv),
      msgpack<matrix>("array16_24000_deep", malformed, repeated("\xdc\x00\x01"sv, 24'000)),
      msgpack<matrix>("two_million_deep", malformed, repeated("\x91", 2'000'000)),
      msgpack<unaware>("two_million_deep_where_skipped", malformed, "\x81\xa3new" + repeated("\x91", 2'000'000)),
      msgpack<record>("two_million_deep_in_a_record", limit_exceeded, repeated("\x91", 2'000'000)),
      msgpack<rich::tree>("two_million_deep_in_pointers", limit_exceeded, repeated("\x81\xa4next", 400'000)),
      msgpack<rich::tree>("two_million_deep_in_lists", limit_exceeded,
                          repeated("\x81\xa8"
                                   "children\x91",
                                   200'000)),
      msgpack<flag>("boolean_of_two", malformed, "\x81\xa2on\x02"sv),
      msgpack<flag>("field_twice", malformed, "\x82\xa2on\xc3\xa2on\xc3"sv),
      msgpack<by_number>("key_twice", malformed, "\x82\x01\x02\x01\x03"sv),
      msgpack<numbers_once>("element_twice", malformed, "\x92\x01\x01"sv),
      msgpack<flag>("bytes_behind", malformed, "\x81\xa2on\xc3\xc0"sv),
      msgpack<flag>("code_that_is_none", malformed, "\x81\xa2on\xc1"sv),
      msgpack<flag>("code_that_is_none_where_skipped", malformed, "\x81\xa1x\xc1"sv),
      msgpack<flag>("list_where_a_structure_is", malformed, "\x91\xc3"sv),
      msgpack<flag>("key_that_is_no_text", malformed, "\x81\x01\xc3"sv),
      msgpack<painted>("unknown_enum_value", layout_mismatch, "\x81\xa5paint\xa6orange"sv),
      msgpack<painted>("unknown_enum_number", layout_mismatch, "\x81\xa5paint\x03"sv),
      msgpack<choice>("unknown_alternative", layout_mismatch,
                      "\x81\xa2of\x81\xa3"
                      "f64\x01"sv),
      msgpack<choice>("two_alternatives", layout_mismatch, "\x81\xa2of\x82\xa3i32\x01\xa3i32\x01"sv),
      msgpack<choice>("no_alternative", layout_mismatch, "\x81\xa2of\x80"sv),
      msgpack<leaves>("reference_forward", malformed, "\x91" + leaf_again(0)),
      msgpack<leaves>("reference_beyond", malformed, "\x92" + shared_leaf(0) + leaf_again(1)),
      msgpack<leaves>("reference_to_the_last_number", malformed, "\x91\xd6\x01\xff\xff\xff\xff"sv),
      msgpack<leaves>("shared_number_twice", malformed, "\x92" + shared_leaf(0) + shared_leaf(0)),
      msgpack<leaves>("shared_number_from_one", malformed, "\x91" + shared_leaf(1)),
      msgpack<mixed>("reference_of_another_type", malformed,
                     "\x82\xa4leaf" + shared_leaf(0) + "\xa5point" + leaf_again(0)),
      msgpack<lateness>("reference_into_what_is_under_construction", malformed,
                        "\x81\xa5"
                        "first\x92\xd6\x02\0\0\0\0\x81\xa4next\xd6\x01\0\0\0\0"s),
      msgpack<drawing>("class_without_an_alias", unknown_type, "\x81\xa5owned\x91\x81\xa4none\x80"sv),
      msgpack<drawing>("class_that_does_not_derive", malformed, "\x81\xa5owned\x91\x81\xa8stranger\x80"sv),
      msgpack<drawing>("class_that_is_a_number", malformed, "\x81\xa5owned\x91\x81\xa3i32\x01"sv),
      msgpack<drawing>("pointer_to_two_objects", malformed,
                       "\x81\xa5owned\x91\x82\xa4"
                       "disc\x80\xa4"
                       "disc\x80"sv),
      msgpack<drawing>("pointer_to_nothing_of_any_class", malformed, "\x81\xa5owned\x91\x80"sv),
      msgpack<std::vector<frame>>("frame_that_is_not_there", malformed, "\x91\xd6\x03\0\0\0\0"sv),
      msgpack<std::vector<frame>>("frame_number_of_four_billion", malformed, "\x91\xd6\x03\xff\xff\xff\xff"sv),
      msgpack<std::vector<frame>>("frame_twice", malformed, "\x92\xd6\x03\0\0\0\0\xd6\x03\0\0\0\0"sv, {frame()}),
      msgpack<std::vector<frame>>("frames_behind", malformed, "\x91\xd6\x03\0\0\0\0"sv, {frame(), frame()}),
      msgpack<std::vector<frame>>("frame_cut", malformed, "\x91\xd6\x03\0\0"sv, {frame()}),
      msgpack<array<double>>("shape_that_overflows", malformed,
                             "\x82\xa5shape\x92\xcf\x80\0\0\0\0\0\0\0\x02\xa4"
                             "data\x90"sv),
      msgpack<array<double>>("shape_without_data", malformed, "\x81\xa5shape\x91\x05"sv),
      msgpack<array<double>>("ragged_rows", malformed,
                             "\x81\xa4"
                             "data\x92\x92\x01\x02\x91\x03"sv),
      msgpack<record>("somes_two_million_deep", limit_exceeded, repeated("\x92\xd4\x04\0"sv, 500'000)),
      msgpack<unaware>("somes_two_million_deep_where_skipped", malformed,
                       "\x81\xa3new" + repeated("\x92\xd4\x04\0"sv, 500'000)),
      msgpack<record>("some_that_is_cut", malformed, "\x92\xd4\x04\0"sv),
      msgpack<flag>("some_where_a_structure_is", malformed, "\x92\xd4\x04\0\x80"sv),
      msgpack<names>("empty", malformed, ""sv),
  };
  all.push_back(by<std::vector<large>>("msgpack", "million_large_elements_of_a_byte", limit_exceeded,
                                       "\xdd\x00\x10\x00\x00"s + std::string(0x100000, '\x80'), {},
                                       64 * 0x100000 + 2_MiB));
  return all;
}
INSTANTIATE_TEST_SUITE_P(of, hostile_bytes, testing::ValuesIn(on_msgpack()), name_of_attack);

template <class T>
attack json(std::string name, serialize_errc expected, std::string_view body, std::vector<frame> frames = {}) {
  return by<T>("json", std::move(name), expected, std::string(body), std::move(frames));
}

std::vector<attack> on_json() {
  return {
      json<std::string>("invalid_utf8", malformed, "\"\xff\""sv),
      json<std::string>("invalid_utf8_in_a_key", malformed, "{\"\xc0\x80\":1}"sv),
      json<std::string>("text_without_an_end", malformed, "\"xxxx"sv),
      json<record>("two_million_deep_in_a_record", limit_exceeded, repeated("[", 2'000'000)),
      json<rich::tree>("two_million_deep_in_pointers", limit_exceeded, repeated("{\"next\":", 250'000)),
      json<record>("somes_two_million_deep", limit_exceeded, repeated("{\"$some\":", 250'000)),
      json<record>("some_of_two", malformed, R"({"$some":1,"and":2})"sv),
      json<flag>("some_where_a_structure_is", malformed, R"({"$some":{}})"sv),
      json<flag>("boolean_of_two", malformed, "{\"on\":2}"sv),
      json<flag>("field_twice", malformed, R"({"on":true,"on":true})"sv),
      json<flag>("field_twice_by_escapes", malformed, R"({"on":true,"\u006fn":true})"sv),
      json<flag>("unknown_field_twice", malformed, R"({"new":1,"new":1})"sv),
      json<by_number>("key_twice", malformed, "[[1,2],[1,3]]"sv),
      json<numbers_once>("element_twice", malformed, "[1,1]"sv),
      json<flag>("bytes_behind", malformed, "{} 1"sv),
      json<painted>("unknown_enum_value", layout_mismatch, R"({"paint":"orange"})"sv),
      json<choice>("unknown_alternative", layout_mismatch, R"({"of":{"f64":1.0}})"sv),
      json<choice>("two_alternatives", layout_mismatch, R"({"of":{"i32":1,"str":""}})"sv),
      json<leaves>("reference_forward", malformed, R"([{"$ref":0}])"sv),
      json<leaves>("reference_to_a_negative_number", malformed, R"([{"$ref":-1}])"sv),
      json<leaves>("shared_number_twice", malformed,
                   R"([{"$id":0,"$value":{"name":""}},{"$id":0,"$value":{"name":""}}])"sv),
      json<mixed>("reference_of_another_type", malformed,
                  R"({"leaf":{"$id":0,"$value":{"name":"x"}},"point":{"$ref":0}})"sv),
      json<lateness>("reference_into_what_is_under_construction", malformed,
                     R"({"first":{"$id":0,"$value":{"next":{"$ref":0}}}})"sv),
      json<drawing>("class_without_an_alias", unknown_type, R"({"owned":[{"none":{}}]})"sv),
      json<drawing>("class_that_does_not_derive", malformed, R"({"owned":[{"stranger":{}}]})"sv),
      json<drawing>("pointer_to_two_objects", malformed, R"({"owned":[{"disc":{},"disc":{}}]})"sv),
      json<std::vector<frame>>("frames_behind", malformed, R"([""])"sv, {frame()}),
      json<array<double>>("shape_that_overflows", malformed, R"({"shape":[9223372036854775808,2],"data":[]})"sv),
      json<names>("empty", malformed, ""sv),
  };
}
INSTANTIATE_TEST_SUITE_P(of_json, hostile_bytes, testing::ValuesIn(on_json()), name_of_attack);

template <class T>
attack cereal(std::string name, serialize_errc expected, std::string_view value, std::vector<frame> frames = {}) {
  return by<T>("cereal", std::move(name), expected, std::string(value), std::move(frames));
}

std::vector<attack> on_cereal() {
  constexpr auto none = "\0\0\0\0\0\0\0\0"sv;
  return {
      cereal<names>("list_of_2_to_the_62", limit_exceeded, "\0\0\0\0\0\0\0\x40"sv),
      cereal<std::vector<nothing>>("two_billion_empty_structures", limit_exceeded, "\0\0\0\x80\0\0\0\0"sv),
      by<std::string>("cereal", "text_of_half_a_megabyte_announced", malformed, "\0\0\x08\0\0\0\0\0x"s, {}, 1_MiB),
      cereal<std::string>("text_of_2_to_the_62", limit_exceeded, "\0\0\0\0\0\0\0\x40x"sv),
      cereal<std::string>("count_cut", malformed, "\x05\0"sv),
      cereal<flag>("boolean_of_two", malformed, "\x02"sv),
      cereal<flag>("bytes_behind", malformed, "\x01\x01"sv),
      cereal<flag>("frames_behind", malformed, "\x01"sv, {frame()}),
      cereal<choice>("unknown_alternative", malformed, "\x07\0\0\0\0\0\0\0"sv),
      cereal<choice>("negative_alternative", malformed, "\xff\xff\xff\xff\0\0\0\0"sv),
      cereal<by_number>("key_twice", malformed, "\x02\0\0\0\0\0\0\0\x01\0\0\0\x02\0\0\0\x01\0\0\0\x03\0\0\0"sv),
      cereal<numbers_once>("element_twice", malformed, "\x02\0\0\0\0\0\0\0\x01\0\0\0\x01\0\0\0"sv),
      cereal<leaves>("reference_forward", malformed, "\x01\0\0\0\0\0\0\0\x01\0\0\0"sv),
      cereal<leaves>("shared_number_twice", malformed,
                     "\x02\0\0\0\0\0\0\0"s + repeated("\x01\0\0\x80"s + std::string(none), 2)),
      cereal<mixed>("reference_of_another_type", malformed, "\x01\0\0\x80"s + std::string(none) + "\x01\0\0\0"s),
      cereal<rich::tree>("two_million_deep", limit_exceeded, repeated("\0\0\0\0\0\0\0\0\0\0\0\0\x01"sv, 150'000)),
      cereal<std::vector<frame>>("frame_that_is_not_there", malformed, "\x01\0\0\0\0\0\0\0"sv),
      cereal<array<double>>("shape_that_overflows", malformed,
                            "\x02\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x80\x02\0\0\0\0\0\0\0\x01"sv),
  };
}
INSTANTIATE_TEST_SUITE_P(of_cereal, hostile_bytes, testing::ValuesIn(on_cereal()), name_of_attack);

TEST(texts_of_any_bytes, are_carried_by_msgpack_and_typed) {
  for (const std::string_view family : {"msgpack", "typed", "json", "cereal"}) {
    const auto text = "\xff\xc0\x80\0"s;
    const auto sent = serialize(text, {.serializers = {std::string(family)}}, types(), families());
    ASSERT_TRUE(sent.has_value());
    EXPECT_EQ(*deserialize<std::string>(*sent, {.deserializers = {std::string(family)}}, types(), families()), text);
  }
}

// -- headers

struct header_attack {
  std::string_view bytes;
  std::string_view reason;
};

TEST(hostile_header, is_refused_with_a_reason) {
  constexpr header_attack cases[] = {
      {""sv, "expected a map, found the end"},
      {"\xc0"sv, "expected a map, found nothing"},
      {"\x91\xa1"
       "f"sv,
       "expected a map, found a list"},
      {"\x80"sv, "the header does not name both a family and a type"},
      {"\x81\xa1"
       "f\xa1x"sv,
       "the header does not name both a family and a type"},
      {"\x82\xa1"
       "f\xa1x\xa1t\x05"sv,
       "expected a text, found a number"},
      {"\x83\xa1"
       "f\xa1x\xa1"
       "f\xa1y\xa1t\xa1z"sv,
       "the field 'f' occurs twice"},
      {"\x82\xa1"
       "f\xa1x\xa1t\xa1y\x00"sv,
       "1 bytes are left over"},
      {"\x83\xa1"
       "f\xa1x\xa1t\xa1y\xa1s\xc6\x40\x00\x00\x00"sv,
       ""},
      {"\x83\xa1"
       "f\xa1x\xa1t\xa1y\xa1s\x01"sv,
       "expected bytes, found a number"},
      {"\xdf\xff\xff\xff\xff"sv, "4,294,967,295 entries announced, and 0 bytes are left"},
  };
  for (const auto& [bytes, reason] : cases) {
    const auto before = allocated_bytes.load();
    const auto fields = parse_header(as_bytes(bytes));
    EXPECT_LT(allocated_bytes.load() - before, 4096U);
    ASSERT_FALSE(fields.has_value()) << reason;
    EXPECT_EQ(fields.error().code(), malformed);
    EXPECT_NE(fields.error().message().find(reason), std::string::npos) << fields.error().message();
  }
}

TEST(hostile_header, may_have_fields_to_come_nested_without_end) {
  const auto with = [](const std::string& value) {
    return as_bytes("\x83\xa1"
                    "f\xa1x\xa3new"
                    + value + "\xa1t\xa1y");
  };
  EXPECT_TRUE(parse_header(with("\x91\xc0")).has_value());
  EXPECT_TRUE(parse_header(with(repeated("\x91", 200) + "\xc0")).has_value());
  EXPECT_EQ(parse_header(with(repeated("\xdc\x00\x01"sv, 20'000))).error().code(), malformed);
  EXPECT_EQ(parse_header(std::vector<std::byte>(1_MiB)).error().code(), limit_exceeded);
}

TEST(hostile_header, names_families_and_types_that_are_not_there) {
  const auto sent = *serialize(flag{}, {.serializers = {"msgpack"}}, types(), families());
  const auto with = [&](std::string_view family, std::string_view type) {
    return payload{make_header({.family = family, .type = type, .schema = {}, .extra = {}}), sent.frames};
  };
  EXPECT_EQ(decode<flag>(with("msgpack", "flag")).code, none);
  EXPECT_EQ(decode<flag>(with("none", "flag")).code, refused_family);
  EXPECT_EQ(decode<flag>(with("", "flag")).code, refused_family);
  EXPECT_EQ(decode<flag>(with("msgpack", "flag\0"sv)).code, type_mismatch);
  EXPECT_EQ(decode<flag>(with("msgpack", "")).code, type_mismatch);
  EXPECT_EQ(decode<flag>(with("error", "flag")).code, sent_as_text);
  EXPECT_EQ(decode<flag>(with("elements", "flag")).code, malformed);
  const auto long_name = decode<flag>(with("msgpack", std::string(60'000, 'x')));
  EXPECT_EQ(long_name.code, type_mismatch);
  EXPECT_LT(long_name.message.size(), 200U) << "not all of it";
  EXPECT_LT(decode<flag>(with(std::string(60'000, 'x'), "flag")).message.size(), 200U);
}

TEST(hostile_header, of_cereal_has_another_layout) {
  auto sent = *serialize(flag{}, {.serializers = {"cereal"}}, types(), families());
  sent.header =
      make_header({.family = "cereal", .type = "flag", .schema = types().find<painted>()->schema(), .extra = {}});
  EXPECT_EQ(decode<flag>(sent).code, layout_mismatch);
  sent.header = make_header({.family = "cereal", .type = "flag", .schema = {}, .extra = {}});
  EXPECT_EQ(decode<flag>(sent).code, layout_mismatch);
}

} // namespace
