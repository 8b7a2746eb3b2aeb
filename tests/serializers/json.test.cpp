// The family json: golden texts, and other texts that are read as the same value. Nothing is lost.
#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include <troupe/serializers/json/described.hpp>

#include "hello.hpp"

namespace {

using namespace troupe;
using namespace std::literals;

using hellos::hello;
using hellos::hello_two;

struct pointers {
  std::shared_ptr<rich::leaf> left;
  std::shared_ptr<rich::leaf> right;
  std::weak_ptr<rich::leaf> watched;
  std::shared_ptr<std::optional<int>> maybe;
};
TROUPE_DESCRIBE(pointers, left, right, watched, maybe)

struct ring {
  std::shared_ptr<ring> next;
};
TROUPE_DESCRIBE(ring, next)

// The example of json/format.md.
struct documented {
  std::string node;
  std::uint32_t version = 0;
  std::vector<std::string> families;
  std::optional<std::int64_t> since;
  rich::color paint = rich::color::red;
  std::map<std::string, double> load;
  std::shared_ptr<documented> next;
};
TROUPE_DESCRIBE(documented, node, version, families, since, paint, load, next)

template <class T>
std::string text_of(const T& value) {
  const auto text = json::encode_described(value);
  return text ? *text : text.error().message();
}

template <class T>
std::string error_of(std::string_view text) {
  const auto back = json::decode_described<T>(text);
  return back ? "" : back.error().message();
}

// Expects that the value is written as this text, and that the text is read as this value.
template <class T>
void expect_golden(const T& value, std::string_view text) {
  EXPECT_EQ(text_of(value), text);
  const auto back = json::decode_described<T>(text);
  ASSERT_TRUE(back.has_value()) << back.error().message();
  EXPECT_TRUE(*back == value) << text;
}

template <class T>
void expect_read(std::string_view text, const T& value) {
  const auto back = json::decode_described<T>(text);
  ASSERT_TRUE(back.has_value()) << text << ": " << back.error().message();
  EXPECT_TRUE(*back == value) << text;
}

TEST(json, writes_objects_by_field_name) {
  EXPECT_EQ(text_of(hello{"n", 300, {"typed"}, std::nullopt, rich::color::blue}),
            R"({"node":"n","version":300,"families":["typed"],"since":null,"paint":"blue"})");
}

TEST(json, writes_the_example_of_its_document) {
  documented value{
      "n", 300, {"typed"}, std::nullopt, rich::color::blue, {{"cpu", 1.0}}, std::make_shared<documented>()};
  *value.next = {"m", 1, {}, 4, rich::color::red, {}, value.next};
  EXPECT_EQ(text_of(value),
            R"({"node":"n","version":300,"families":["typed"],"since":null,"paint":"blue","load":{"cpu":1.0},)"
            R"("next":{"$id":0,"$value":{"node":"m","version":1,"families":[],"since":4,"paint":"red","load":{},)"
            R"("next":{"$ref":0}}}})");
  value.next->next.reset();
}

TEST(json, skips_unknown_fields_and_keeps_defaults_of_missing_ones) {
  const auto back = json::decode_described<hello>(text_of(hello_two{7, {{"k", {1, 2}}}, "n"}));
  ASSERT_TRUE(back.has_value()) << back.error().message();
  EXPECT_EQ(back->version, 7U);
  EXPECT_EQ(back->node, "n");
  EXPECT_EQ(back->paint, rich::color::green);
}

TEST(json, passes_over_space) {
  const auto back = json::decode_described<hello>("\n {\t\"node\" : \"n\" ,\r\n \"families\" : [ \"a\" , \"b\" ] } \n");
  ASSERT_TRUE(back.has_value()) << back.error().message();
  EXPECT_EQ(back->families, (std::vector<std::string>{"a", "b"}));
}

TEST(json, has_one_form_for_each_sort_of_value) {
  expect_golden(true, "true");
  expect_golden(std::int8_t{-100}, "-100");
  expect_golden('a', "97");
  expect_golden(std::chrono::milliseconds(-1500), R"("-1500ms")");
  expect_golden(std::chrono::duration<double>(-0.0), R"("-0s")");
  expect_golden(std::chrono::duration<double>(-INFINITY), R"("-infs")");
  expect_golden(std::chrono::duration<float, std::ratio<1, 60>>(0.5F), R"("0.5[1/60]s")");
  expect_golden(std::chrono::nanoseconds::min(), R"("-9223372036854775808ns")");
  expect_golden(std::chrono::duration<std::uint64_t>(UINT64_MAX), R"("18446744073709551615s")");
  expect_golden(std::chrono::sys_seconds(std::chrono::seconds(7)), R"("7s system clock")");
  expect_read("-1500", std::chrono::milliseconds(-1500));
  expect_golden(std::filesystem::path("/tmp/x"), R"("/tmp/x")");
  expect_golden(std::optional<int>(), "null");
  expect_golden(std::optional<std::optional<int>>(std::optional<int>()), R"({"$some":null})");
  expect_golden(std::optional<std::optional<int>>(), "null");
  expect_read(" { \"$some\" : 5 } ", std::optional(std::optional<int>(5)));
  expect_read("5", std::optional(std::optional<int>(5)));
  expect_golden(std::tuple<bool, rich::point, std::string>{true, {1, 2.5}, "x"}, R"([true,{"x":1,"y":2.5},"x"])");
  using choice = std::variant<std::monostate, int, std::string, std::vector<double>, rich::point>;
  expect_golden(choice(), R"({"none":null})");
  expect_golden(choice(7), R"({"i32":7})");
  expect_golden(choice("s"), R"({"str":"s"})");
  expect_golden(choice(std::vector<double>{1, 2.5}), R"({"list<f64>":[1.0,2.5]})");
  expect_golden(choice(rich::point{1, 2}), R"({"point":{"x":1,"y":2.0}})");
  expect_golden(std::vector<bool>{true, false}, "[true,false]");
  expect_golden(std::set<int>{1, 2}, "[1,2]");
  expect_golden(rich::color::blue, R"("blue")");
  expect_golden(static_cast<rich::flags>(5), "5");
}

TEST(json, writes_maps_of_texts_as_objects_and_others_as_pairs) {
  expect_golden(std::map<std::string, int>{{"a", 1}, {"b", 2}}, R"({"a":1,"b":2})");
  expect_golden(std::map<rich::color, int>{{rich::color::red, 1}}, R"({"red":1})");
  expect_golden(std::map<std::filesystem::path, int>{{"/", 1}}, R"({"/":1})");
  expect_golden(std::map<std::string, int>{}, "{}");
  expect_golden(std::map<int, std::string>{{1, "a"}, {2, "b"}}, R"([[1,"a"],[2,"b"]])");
  expect_golden(std::map<int, std::string>{}, "[]");
  expect_golden(std::multimap<std::string, int>{{"a", 1}, {"a", 2}}, R"([["a",1],["a",2]])");
  expect_golden(std::map<std::optional<std::string>, int>{{std::nullopt, 1}, {"a", 2}}, R"([[null,1],["a",2]])");
  expect_golden(std::map<std::pair<int, int>, std::map<int, int>>{{{1, 2}, {{3, 4}}}}, "[[[1,2],[[3,4]]]]");
  expect_read(R"([["a",1],["b",2]])", std::map<std::string, int>{{"a", 1}, {"b", 2}});
  expect_read(R"({"a":1})", std::multimap<std::string, int>{{"a", 1}});
  EXPECT_EQ((error_of<std::map<int, int>>(R"({"1":2})")), "json: value[0]: expected i32, found a text");
  EXPECT_NE((error_of<std::map<int, int>>("[[1]]")), "");
  EXPECT_NE((error_of<std::map<int, int>>("[[1,2,3]]")), "");
  EXPECT_NE((error_of<std::map<int, int>>("[1,2]")), "");
}

TEST(json, writes_bytes_and_frames_as_base64) {
  const auto bytes = [](std::string_view of) {
    const auto all = std::as_bytes(std::span(of));
    return std::vector<std::byte>(all.begin(), all.end());
  };
  expect_golden(bytes(""), R"({"$bytes":""})");
  expect_golden(bytes("f"), R"({"$bytes":"Zg=="})");
  expect_golden(bytes("fo"), R"({"$bytes":"Zm8="})");
  expect_golden(bytes("foo"), R"({"$bytes":"Zm9v"})");
  expect_golden(bytes("\xfb\xff\xbf"), R"({"$bytes":"+/+/"})");
  expect_golden(std::array<std::byte, 2>{std::byte{1}, std::byte{2}}, R"({"$bytes":"AQI="})");
  EXPECT_EQ(text_of(rich::frame_of("foo")), R"({"$bytes":"Zm9v"})");
  expect_read(R"({ "$bytes" : "\u0061\/+\/" })", bytes("\x6b\xff\xbf"));
  expect_read("[102,111]", bytes("fo"));
  EXPECT_NE(error_of<std::vector<std::byte>>(R"("Zm9v")"), "") << "a text is no base64";
  for (const auto* wrong : {R"("Zg")", R"("Zg=")", R"("Zg===")", R"("Zh==")", R"("Zm9=")", R"("Zm 9v")", R"("====")",
                            R"("Z===")", R"("Zg==Zg==")", R"("Zm-_")", R"("Zm9\n")", "[256]"})
    EXPECT_NE(error_of<std::vector<std::byte>>(wrong[0] == '[' ? wrong : R"({"$bytes":)" + std::string(wrong) + "}"),
              "")
        << wrong;
}

TEST(json, escapes_what_must_be) {
  expect_golden("\"\\\b\f\n\r\t\x01\x1f\x7f/\0"s, R"("\"\\\b\f\n\r\t\u0001\u001f)"
                                                  "\x7f"
                                                  R"(/\u0000")");
  expect_golden("Zoë, €, 🎭"s, R"("Zoë, €, 🎭")");
  expect_read(R"("\u0041\/\u20ac\ud83c\udfad\uD83C\uDFAD")", "A/€🎭🎭"s);
}

TEST(json, keeps_texts_that_are_no_utf8) {
  expect_golden("\xff"s, R"({"$text":"/w=="})");
  expect_golden("\xed\xa0\x80"s, R"({"$text":"7aCA"})"); // A surrogate.
  expect_golden("\xc0\x80"s, R"({"$text":"wIA="})");     // Longer than necessary.
  expect_golden("\xf4\x90\x80\x80"s, R"({"$text":"9JCAgA=="})");
  expect_golden("cut \xe2\x82"s, R"({"$text":"Y3V0IOKC"})");
  expect_golden(std::map<std::string, int>{{"\xff", 1}, {"a", 2}}, R"({"a":2,"$text:/w==":1})");
  expect_read(R"({ "\u0024text" : "YQ==" })", "a"s);
  EXPECT_NE(error_of<std::string>(R"({"$text":"YQ==","more":1})"), "");
  EXPECT_NE(error_of<std::string>(R"({"$text":7})"), "");
  EXPECT_NE((error_of<std::map<std::string, int>>(R"({"$text:??":1})")), "");
  std::mt19937 random(42);
  for (int round = 0; round < 5000; ++round) {
    std::map<std::string, std::string> texts;
    for (std::size_t i = random() % 3; i < 3; ++i) {
      std::string text(random() % 12, ' ');
      for (auto& c : text)
        c = static_cast<char>(random() % 4 == 0 ? random() : " $\"\\\xc3\xa9"[random() % 6]);
      texts[text] = text;
    }
    expect_read(text_of(texts), texts);
  }
}

TEST(json, keeps_keys_apart_from_its_own) {
  expect_golden(std::map<std::string, int>{{"$id", 1}, {"$ref", 2}, {"$$", 3}}, R"({"$$$":3,"$$id":1,"$$ref":2})");
  expect_golden(std::optional<std::map<std::string, int>>({{"$bytes", 1}}), R"({"$$bytes":1})");
  using shared = std::shared_ptr<std::map<std::string, int>>;
  const auto text = text_of(shared(new std::map<std::string, int>{{"$id", 5}}));
  EXPECT_EQ(text, R"({"$id":0,"$value":{"$$id":5}})");
  EXPECT_EQ(json::decode_described<shared>(text).value()->at("$id"), 5);
}

TEST(json, keeps_integers_exact) {
  expect_golden(INT64_MIN, "-9223372036854775808");
  expect_golden(UINT64_MAX, "18446744073709551615");
  expect_golden(std::int64_t{9'007'199'254'740'993}, "9007199254740993");
  for (const auto* beyond : {"-9223372036854775809", "9223372036854775808", "1e19", "1.5", "-1e-5"})
    EXPECT_NE(error_of<std::int64_t>(beyond), "") << beyond;
  for (const auto* beyond : {"-1", "18446744073709551616", "100000000000000000000000000000000000000000"})
    EXPECT_NE(error_of<std::uint64_t>(beyond), "") << beyond;
  expect_read("1e3", 1000);
  expect_read("5.0", 5);
  expect_read("-0", 0);
}

TEST(json, keeps_real_numbers_real) {
  expect_golden(1.0, "1.0");
  expect_golden(0.1, "0.1");
  expect_golden(0.1F, "0.1");
  expect_golden(1e300, "1e+300");
  expect_golden(5e-324, "5e-324");
  expect_golden(1e16, "1e+16");
  expect_golden(std::numeric_limits<double>::infinity(), R"("Infinity")");
  expect_golden(-std::numeric_limits<float>::infinity(), R"("-Infinity")");
  EXPECT_EQ(text_of(std::nan("")), R"("NaN")");
  EXPECT_TRUE(std::isnan(json::decode_described<double>(R"("NaN")").value()));
  EXPECT_EQ(text_of(-0.0), "-0.0");
  for (const auto* zero : {"-0.0", "-0", "-0e5", "-1e-400", "-0.00000e-999999999999999999999"})
    EXPECT_TRUE(std::signbit(json::decode_described<double>(zero).value())) << zero;
  expect_read("5", 5.0);
  expect_read("-9223372036854775809", -0x1p63);
  expect_read("100000000000000000000000", 1e23);
  expect_read("0.000000001e+9", 1.0);
  expect_read("1e-9999999999999999999999", 0.0);
  expect_read(std::string(400, '9') + "e-400", 1.0);
  expect_read("0." + std::string(400, '0') + "1e+401", 1.0);
  EXPECT_EQ(error_of<double>("1e400"), "json: value: at byte 5: a number larger than any double");
  EXPECT_EQ(error_of<float>("1e39"), "json: value: 1e+39 does not fit f32");
}

TEST(json, keeps_each_bit_of_real_numbers) {
  std::mt19937_64 random(42);
  for (int round = 0; round < 50'000; ++round) {
    const auto large = std::bit_cast<double>(random());
    const auto small = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    if (!std::isnan(large))
      expect_read(text_of(large), large);
    if (!std::isnan(small))
      expect_read(text_of(small), small);
  }
}

TEST(json, names_the_field_whose_number_does_not_fit) {
  EXPECT_EQ(error_of<hello>(R"({"version":4294967296})"), "json: value.version: 4294967296 does not fit u32");
  EXPECT_EQ(error_of<hello>(R"({"version":-1})"), "json: value.version: -1 does not fit u32");
  EXPECT_EQ(error_of<hello>(R"({"version":"x"})"), "json: value.version: expected u32, found a text");
  EXPECT_EQ(error_of<hello>(R"({"families":["a",5]})"), "json: value.families[1]: expected a text, found a number");
  EXPECT_EQ(error_of<hello>(R"({"paint":"pink"})"), "json: value.paint: 'pink' is no value of the enum color");
}

TEST(json, refuses_a_key_twice) {
  EXPECT_EQ(error_of<hello>(R"({"node":"n","node":"m"})"), "json: value.node: a field twice");
  EXPECT_EQ(error_of<hello>(R"({"new":1,"node":"n","new":2})"),
            "json: value: at byte 27: the key 'new' twice in the object that ends");
  EXPECT_NE(error_of<hello>(R"({"new":{"a":1,"b":{},"\u0061":2}})"), "");
  EXPECT_NE((error_of<std::map<std::string, int>>(R"({"a":1,"a":1})")), "");
  EXPECT_NE((error_of<std::multimap<std::string, int>>(R"({"a":1,"\u0061":2})")), "");
  EXPECT_NE((error_of<std::multimap<std::string, int>>(R"({"a":1,"$text:YQ==":2})")), "");
  EXPECT_NE(error_of<array<int>>(R"({"shape":[1],"data":[1],"data":[2]})"), "");
  EXPECT_EQ(error_of<hello>(R"({"new":{"a":1,"b":{"a":1}},"newer":{"a":1}})"), "");
}

TEST(json, nests_the_elements_of_arrays) {
  const std::vector<std::int16_t> six = {1, 2, 3, 4, 5, 6};
  expect_golden(array<std::int16_t>::copy_of(six), R"({"shape":[6],"type":"i16","data":[1,2,3,4,5,6]})");
  expect_golden(array<std::int16_t>::copy_of(six, {2, 3}), R"({"shape":[2,3],"type":"i16","data":[[1,2,3],[4,5,6]]})");
  expect_golden(array<std::int16_t>::copy_of(six, {3, 1, 2}),
                R"({"shape":[3,1,2],"type":"i16","data":[[[1,2]],[[3,4]],[[5,6]]]})");
  const std::vector<double> one = {2.5};
  expect_golden(array<double>::copy_of(one, {}), R"({"shape":[],"type":"f64","data":2.5})");
  expect_golden(array<double>::copy_of(one, {1, 1}), R"({"shape":[1,1],"type":"f64","data":[[2.5]]})");
  expect_golden(array<float>::copy_of({}, {2, 0, 1'000'000'000}),
                R"({"shape":[2,0,1000000000],"type":"f32","data":[]})");
  expect_golden(array<double>(), R"({"shape":[0],"type":"f64","data":[]})");
  const std::vector<std::byte> raw = {std::byte{1}, std::byte{255}};
  expect_golden(array<std::byte>::copy_of(raw, {2, 1}), R"({"shape":[2,1],"type":"u8","data":[[1],[255]]})");
}

TEST(json, takes_arrays_in_any_order_flat_or_without_a_shape) {
  const std::vector<int> six = {1, 2, 3, 4, 5, 6};
  const auto grid = array<int>::copy_of(six, {2, 3});
  expect_read(R"({"data":[[1,2,3],[4,5,6]],"more":[{}],"shape":[2,3]})", grid);
  expect_read(R"({"data":[[1,2,3],[4,5,6]]})", grid);
  expect_read(R"({"data":[1,2,3,4,5,6],"shape":[2,3]})", grid);
  expect_read(R"({"data":[[],[]]})", array<int>::copy_of({}, {2, 0}));
  expect_read(R"({"data":7})", array<int>::copy_of(std::vector{7}, {}));
  expect_read("{}", array<int>());
  const std::vector<std::byte> raw = {std::byte{1}, std::byte{255}};
  expect_read(R"({"data":{"$bytes":"Af8="},"shape":[1,2]})", array<std::byte>::copy_of(raw, {1, 2}));
  for (const auto* wrong : {R"({"data":[[1,2,3],[4,5]]})", R"({"data":[1,[2]]})", R"({"data":[[1],2]})",
                            R"({"data":[[1],[[2]]]})", R"({"data":[[[1]],[2]]})", R"({"data":[[],[1]]})",
                            R"({"data":[[1],[]]})", R"({"data":[[1,2],[3,4]],"shape":[4]})",
                            R"({"data":[[1,2],[3,4]],"shape":[4,1]})", R"({"data":[1,2],"shape":[3]})",
                            R"({"data":[1.5]})", R"({"data":[1],"shape":[18446744073709551615,18446744073709551615]})",
                            R"({"data":"AQ=="})", R"({"shape":[1]})"})
    EXPECT_NE(error_of<array<int>>(wrong), "") << wrong;
}

TEST(json, numbers_shared_objects_and_refers_to_them) {
  pointers sent;
  sent.left = std::make_shared<rich::leaf>(rich::leaf{"x"});
  sent.right = sent.left;
  sent.watched = sent.left;
  sent.maybe = std::make_shared<std::optional<int>>(4);
  const auto text = text_of(sent);
  EXPECT_EQ(text, R"({"left":{"$id":0,"$value":{"name":"x"}},"right":{"$ref":0},"watched":{"$ref":0},)"
                  R"("maybe":{"$id":1,"$value":4}})");
  const auto back = json::decode_described<pointers>(text);
  ASSERT_TRUE(back.has_value()) << back.error().message();
  EXPECT_EQ(back->left, back->right);
  EXPECT_EQ(back->watched.lock(), back->left);
  EXPECT_EQ(**back->maybe, 4);

  ring start;
  start.next = std::make_shared<ring>();
  start.next->next = start.next;
  EXPECT_EQ(text_of(start), R"({"next":{"$id":0,"$value":{"next":{"$ref":0}}}})");
  start.next->next.reset();
}

TEST(json, takes_objects_that_nobody_numbered_as_new_ones) {
  const auto back = json::decode_described<pointers>(R"({"left":{"name":"x"},"right":{"name":"x"},"maybe":4})");
  ASSERT_TRUE(back.has_value()) << back.error().message();
  EXPECT_EQ(back->left->name, "x");
  EXPECT_NE(back->left, back->right);
}

TEST(json, refuses_references_that_lead_nowhere) {
  using leaves = std::vector<std::shared_ptr<rich::leaf>>;
  const auto object = R"({"$id":0,"$value":{"name":"x"}})"s;
  EXPECT_EQ(error_of<leaves>("[" + object + R"(,{"$ref":0}])"), "");
  EXPECT_NE(error_of<leaves>("[" + object + R"(,{"$ref":1}])"), "");
  EXPECT_NE(error_of<leaves>(R"([{"$ref":0}])"), "") << "forward";
  EXPECT_NE(error_of<leaves>("[" + object + "," + object + "]"), "") << "number 0 twice";
  using mixed = std::pair<std::shared_ptr<rich::leaf>, std::shared_ptr<rich::point>>;
  EXPECT_NE(error_of<mixed>("[" + object + R"(,{"$ref":0}])"), "") << "another type";
  for (const auto* wrong : {R"({"$id":0})", R"({"$id":0,"name":"x"})", R"({"$id":0,"$value":{},"more":1})",
                            R"({"$id":"0"})", R"({"$ref":-1})", R"({"$ref":0.5})", R"({"$ref":0,"more":1})",
                            R"({"$ref":null})", R"({"$id":0,"$value":})", R"({"$id":1,"$value":{}})"})
    EXPECT_NE(error_of<leaves>("[" + std::string(wrong) + "]"), "") << wrong;
}

TEST(json, takes_no_object_of_its_own_for_a_structure_or_a_map) {
  EXPECT_EQ(error_of<rich::leaf>(R"({"$id":0,"$value":{"name":"x"}})"),
            "json: value: expected a map, found a shared object");
  EXPECT_NE(error_of<rich::leaf>(R"({"$ref":0})"), "");
  EXPECT_NE((error_of<std::map<std::string, int>>(R"({"$id":0})")), "");
  EXPECT_NE((error_of<std::map<std::string, int>>(R"({"$bytes":0})")), "");
  expect_read(R"({"$schema":1,"$id":2})", std::map<std::string, int>{{"$schema", 1}, {"$id", 2}});
}

TEST(json, counts_shared_objects_that_it_skips) {
  const auto back = json::decode_described<pointers>(
      R"({"new":[{"$id":0,"$value":{"a":{"$id":1,"$value":null}}},{"$ref":1},{"$text":"/w=="}],)"
      R"("left":{"$id":2,"$value":{"name":"x"}},"right":{"$ref":2}})");
  ASSERT_TRUE(back.has_value()) << back.error().message();
  EXPECT_EQ(back->left, back->right);
}

TEST(json, is_known_from_the_start_and_needs_no_trust) {
  const family_set families;
  ASSERT_NE(families.find("json"), nullptr);
  EXPECT_FALSE(families.find("json")->needs_trust());
  type_registry types;
  types.add<hello>("hello");
  const auto sent = serialize(hello{"n", 1, {}, {}, rich::color::red}, {.serializers = {"json"}}, types, families);
  ASSERT_TRUE(sent.has_value());
  ASSERT_EQ(sent->frames.size(), 1U);
  EXPECT_EQ(rich::text_of(sent->frames[0]).front(), '{');
}

} // namespace
