// Values that every family carries and rich::everything does not contain: pointers and shared objects, classes by
// alias, types in the form of other types, values without a fixed type, payloads inside values.
#include <troupe/serializers/bitset.hpp>
#include <troupe/serializers/record.hpp>
#include <troupe/serializers/serialized.hpp>

#include "every_family.hpp"

namespace carried {

// Travels in the form of another type.
class celsius {
public:
  celsius() = default;
  explicit celsius(double degrees) : degrees_(degrees) {}
  [[nodiscard]] double degrees() const { return degrees_; }
  auto operator<=>(const celsius&) const = default;

private:
  double degrees_ = 0;
};

// Travels in the form of another type, by functions of its own.
class fraction {
public:
  fraction() = default;
  fraction(int over, int under) : over_(over), under_(under) {}
  [[nodiscard]] std::tuple<int, int> reduce() const { return {over_, under_}; }
  static fraction rebuild(int over, int under) { return {over, under}; }
  auto operator<=>(const fraction&) const = default;

private:
  int over_ = 0;
  int under_ = 1;
};

} // namespace carried

template <>
struct troupe::codec<carried::celsius> {
  using form = double;
  static std::expected<form, serialize_error> reduce(const carried::celsius& value, const context&) {
    return value.degrees();
  }
  static std::expected<carried::celsius, serialize_error> rebuild(form&& degrees, const context&) {
    return carried::celsius(degrees);
  }
};

namespace carried {

using troupe::array;
using troupe::frame;
using troupe::record;
using troupe::serialized;

struct inner {
  int value = 0;
  std::vector<rich::point> points;
  bool operator==(const inner&) const = default;
};
TROUPE_DESCRIBE(inner, value, points)

struct middle {
  inner left;
  inner right;
  std::optional<inner> maybe;
  bool operator==(const middle&) const = default;
};
TROUPE_DESCRIBE(middle, left, right, maybe)

struct outer {
  std::vector<middle> all;
  std::map<std::string, middle> named;
  bool operator==(const outer&) const = default;
};
TROUPE_DESCRIBE(outer, all, named)

struct of_two : rich::shape, rich::leaf {
  int own = 0;
  bool operator==(const of_two&) const = default;
};
TROUPE_DESCRIBE_DERIVED(of_two, (rich::shape, rich::leaf), own)

struct containers {
  std::multimap<std::string, int> many;
  std::unordered_multimap<int, std::string> many_unordered;
  std::unordered_multiset<std::string> words;
  std::map<std::pair<int, std::string>, std::vector<bool>> by_pair;
  std::map<rich::color, double> by_color;
  std::map<std::filesystem::path, int> by_path;
  std::unordered_map<int, std::vector<std::string>> lists;
  std::vector<std::vector<int>> matrix;
  std::list<std::deque<std::string>> queues;
  std::set<std::vector<int>> rows;
  std::array<std::optional<int>, 3> maybes;
  std::array<std::array<int, 2>, 2> square{};
  std::vector<std::array<std::string, 2>> pairs;
  std::vector<std::byte> no_bytes;
  std::vector<char> letters;
  std::vector<std::optional<std::optional<bool>>> layers;
  std::deque<std::vector<double>> series;
  bool operator==(const containers&) const = default;
};
TROUPE_DESCRIBE(containers, many, many_unordered, words, by_pair, by_color, by_path, lists, matrix, queues, rows,
                maybes, square, pairs, no_bytes, letters, layers, series)

containers full_containers() {
  return {.many = {{"k", 1}, {"k", 2}, {"k", 1}, {"l", 0}},
          .many_unordered = {{7, "a"}, {7, "b"}, {-7, ""}},
          .words = {"x", "x", "y"},
          .by_pair = {{{1, "one"}, {true, false}}, {{1, ""}, {}}},
          .by_color = {{rich::color::red, 0.5}, {rich::color::blue, -1}},
          .by_path = {{"/a/b", 1}, {"", 2}},
          .lists = {{1, {"a", ""}}, {2, {}}},
          .matrix = {{1, 2}, {}, {3}},
          .queues = {{"a"}, {}, {"b", "c"}},
          .rows = {{}, {1}, {1, 2}},
          .maybes = {1, std::nullopt, 3},
          .square = {{{1, 2}, {3, 4}}},
          .pairs = {{"a", "b"}, {"", ""}},
          .no_bytes = {},
          .letters = {'a', '\0', 'b'},
          .layers = {std::nullopt, std::optional<bool>(), true, false},
          .series = {{1.5}, {}, std::vector<double>(1000, 0.25)}};
}

struct choices {
  std::optional<std::variant<int, std::string>> maybe_either;
  std::variant<int, int, std::string, std::vector<int>> alike;
  std::vector<std::variant<std::monostate, bool, rich::point, std::map<std::string, int>>> any_of;
  std::optional<std::monostate> presence;
  std::optional<std::vector<int>> maybe_many;
  std::tuple<> empty;
  std::tuple<std::pair<int, std::vector<int>>, std::optional<std::string>> nested;
  std::chrono::duration<double> seconds{};
  std::chrono::hours hours{};
  std::chrono::time_point<std::chrono::steady_clock, std::chrono::nanoseconds> since;
  celsius warm;
  std::vector<celsius> week;
  std::map<std::string, celsius> cities;
  std::optional<fraction> share;
  std::vector<fraction> shares;
  array<std::uint8_t> picture;
  array<float> no_dimension;
  std::vector<array<std::int64_t>> grids;
  std::bitset<12> flags;
  std::vector<std::bitset<8>> octets;
  std::bitset<0> no_flags;
  bool operator==(const choices&) const = default;
};
TROUPE_DESCRIBE(choices, maybe_either, alike, any_of, presence, maybe_many, empty, nested, seconds, hours, since, warm,
                week, cities, share, shares, picture, no_dimension, grids, flags, octets, no_flags)

choices full_choices() {
  choices it;
  it.maybe_either = "text";
  it.alike.emplace<1>(5);
  it.any_of = {std::monostate(), true, rich::point{1, 2}, std::map<std::string, int>{{"a", 1}}};
  it.presence.emplace();
  it.maybe_many.emplace();
  it.nested = {{1, {2, 3}}, "four"};
  it.seconds = std::chrono::duration<double>(-0.125);
  it.hours = std::chrono::hours(1'000'000);
  it.since += std::chrono::nanoseconds(123'456'789);
  it.warm = celsius(21.5);
  it.week = {celsius(1), celsius(-2)};
  it.cities = {{"Oslo", celsius(-5)}};
  it.share = fraction(1, 3);
  it.shares = {{1, 2}, {-3, 4}};
  it.picture = array<std::uint8_t>(std::vector<std::uint8_t>{1, 2, 255});
  const std::vector<float> one = {2.5F};
  it.no_dimension = array<float>::copy_of(one, {});
  const std::vector<std::int64_t> six = {1, 2, 3, 4, 5, -6};
  it.grids = {array<std::int64_t>::copy_of(six, {1, 2, 3}), array<std::int64_t>(),
              array<std::int64_t>::copy_of({}, {0, 3})};
  it.flags = 0b1000'0000'1010;
  it.octets = {0, 0xff, 0x81};
  return it;
}

struct wide {
  int m000 = 0, m001 = 0, m002 = 0, m003 = 0, m004 = 0, m005 = 0, m006 = 0, m007 = 0, m008 = 0, m009 = 0;
  int m010 = 0, m011 = 0, m012 = 0, m013 = 0, m014 = 0, m015 = 0, m016 = 0, m017 = 0, m018 = 0, m019 = 0;
  int m020 = 0, m021 = 0, m022 = 0, m023 = 0, m024 = 0, m025 = 0, m026 = 0, m027 = 0, m028 = 0, m029 = 0;
  int m030 = 0, m031 = 0, m032 = 0, m033 = 0, m034 = 0, m035 = 0, m036 = 0, m037 = 0, m038 = 0, m039 = 0;
  int m040 = 0, m041 = 0, m042 = 0, m043 = 0, m044 = 0, m045 = 0, m046 = 0, m047 = 0, m048 = 0, m049 = 0;
  int m050 = 0, m051 = 0, m052 = 0, m053 = 0, m054 = 0, m055 = 0, m056 = 0, m057 = 0, m058 = 0, m059 = 0;
  int m060 = 0, m061 = 0, m062 = 0, m063 = 0, m064 = 0, m065 = 0, m066 = 0, m067 = 0, m068 = 0, m069 = 0;
  int m070 = 0, m071 = 0, m072 = 0, m073 = 0, m074 = 0, m075 = 0, m076 = 0, m077 = 0, m078 = 0, m079 = 0;
  int m080 = 0, m081 = 0, m082 = 0, m083 = 0, m084 = 0, m085 = 0, m086 = 0, m087 = 0, m088 = 0, m089 = 0;
  int m090 = 0, m091 = 0, m092 = 0, m093 = 0, m094 = 0, m095 = 0, m096 = 0, m097 = 0, m098 = 0, m099 = 0;
  int m100 = 0, m101 = 0, m102 = 0, m103 = 0, m104 = 0, m105 = 0, m106 = 0, m107 = 0, m108 = 0, m109 = 0;
  int m110 = 0, m111 = 0, m112 = 0, m113 = 0, m114 = 0, m115 = 0, m116 = 0, m117 = 0, m118 = 0, m119 = 0;
  bool operator==(const wide&) const = default;
};
TROUPE_DESCRIBE(wide, m000, m001, m002, m003, m004, m005, m006, m007, m008, m009, m010, m011, m012, m013, m014, m015,
                m016, m017, m018, m019, m020, m021, m022, m023, m024, m025, m026, m027, m028, m029, m030, m031, m032,
                m033, m034, m035, m036, m037, m038, m039, m040, m041, m042, m043, m044, m045, m046, m047, m048, m049,
                m050, m051, m052, m053, m054, m055, m056, m057, m058, m059, m060, m061, m062, m063, m064, m065, m066,
                m067, m068, m069, m070, m071, m072, m073, m074, m075, m076, m077, m078, m079, m080, m081, m082, m083,
                m084, m085, m086, m087, m088, m089, m090, m091, m092, m093, m094, m095, m096, m097, m098, m099, m100,
                m101, m102, m103, m104, m105, m106, m107, m108, m109, m110, m111, m112, m113, m114, m115, m116, m117,
                m118, m119)

struct pointers {
  std::vector<std::unique_ptr<rich::leaf>> owned;
  std::unique_ptr<std::vector<std::unique_ptr<int>>> deep;
  std::shared_ptr<const rich::leaf> constant;
  std::vector<std::shared_ptr<array<double>>> references;
  std::vector<std::weak_ptr<array<double>>> watching;
  std::map<std::string, std::shared_ptr<std::string>> by_name;
};
TROUPE_DESCRIBE(pointers, owned, deep, constant, references, watching, by_name)

/// A node of a closed, doubly linked list.
struct knot {
  std::string name;
  std::shared_ptr<knot> next;
  std::weak_ptr<knot> previous;
  std::vector<std::weak_ptr<knot>> friends;
};
TROUPE_DESCRIBE(knot, name, next, previous, friends)

struct figure {
  figure() = default;
  figure(const figure&) = default;
  figure& operator=(const figure&) = default;
  virtual ~figure() = default;
  [[nodiscard]] virtual double area() const = 0;
  std::string color;
};
TROUPE_DESCRIBE(figure, color)

struct disc : figure {
  [[nodiscard]] double area() const override { return 3 * radius * radius; }
  double radius = 0;
};
TROUPE_DESCRIBE_DERIVED(disc, (figure), radius)

struct ring : disc {
  [[nodiscard]] double area() const override { return disc::area() - 3 * hole * hole; }
  double hole = 0;
};
TROUPE_DESCRIBE_DERIVED(ring, (disc), hole)

struct drawing {
  std::vector<std::unique_ptr<figure>> owned;
  std::vector<std::shared_ptr<figure>> shared;
  std::shared_ptr<disc> sun;
};
TROUPE_DESCRIBE(drawing, owned, shared, sun)

struct open_ended {
  record any;
  std::vector<record> many;
  serialized content;
  std::map<std::string, serialized> parts;
};
TROUPE_DESCRIBE(open_ended, any, many, content, parts)

} // namespace carried

namespace {

using namespace conformance;

class travelling : public every_family {
protected:
  travelling() {
    add_cereal<carried::outer>(types, "outer");
    add_cereal<carried::of_two>(types, "of two");
    add_cereal<carried::containers>(types, "containers");
    add_cereal<carried::choices>(types, "choices");
    add_cereal<carried::wide>(types, "wide");
    add_cereal<carried::pointers>(types, "pointers");
    add_cereal<carried::knot>(types, "knot");
    add_cereal<carried::open_ended>(types, "open ended");
    types.add<carried::drawing>("drawing").add<carried::disc>("disc").add<carried::ring>("ring");
  }
};

INSTANTIATE_TEST_SUITE_P(, travelling, testing::ValuesIn(all_families), name_of_row);

TEST_P(travelling, structs_within_each_other_and_of_several_bases) {
  const carried::inner some{1, {{2, 3}, {4, 5}}};
  const carried::middle both{some, {}, some};
  expect_back(carried::outer{{both, {}, both}, {{"a", both}, {"", {}}}});
  carried::of_two sum;
  sum.label = "label";
  sum.name = "name";
  sum.own = 7;
  expect_back(sum);
}

TEST_P(travelling, containers_of_every_sort) {
  expect_back(carried::full_containers());
  expect_back(carried::containers{});
}

TEST_P(travelling, values_that_may_be_one_thing_or_another) {
  expect_back(carried::full_choices());
  expect_back(carried::choices{});
}

TEST_P(travelling, structs_of_more_than_a_hundred_members) {
  carried::wide value;
  value.m000 = 1;
  value.m058 = -58;
  value.m119 = 119;
  expect_back(value);
}

TEST_P(travelling, pointers_and_what_they_own) {
  carried::pointers sent;
  sent.owned.push_back(std::make_unique<rich::leaf>(rich::leaf{"a"}));
  sent.owned.push_back(nullptr);
  sent.deep = std::make_unique<std::vector<std::unique_ptr<int>>>();
  sent.deep->push_back(std::make_unique<int>(5));
  sent.constant = std::make_shared<const rich::leaf>(rich::leaf{"constant"});
  sent.by_name["one"] = std::make_shared<std::string>("shared");
  sent.by_name["two"] = sent.by_name["one"];
  sent.by_name["none"] = nullptr;
  const auto back = decoded<carried::pointers>(encoded(sent));
  ASSERT_TRUE(back.has_value()) << back.error().message();
  ASSERT_EQ(back->owned.size(), 2U);
  EXPECT_EQ(back->owned[0]->name, "a");
  EXPECT_EQ(back->owned[1], nullptr);
  EXPECT_EQ(*back->deep->at(0), 5);
  EXPECT_EQ(back->constant->name, "constant");
  EXPECT_EQ(*back->by_name.at("one"), "shared");
  EXPECT_EQ(back->by_name.at("one"), back->by_name.at("two"));
  EXPECT_EQ(back->by_name.at("none"), nullptr);
}

TEST_P(travelling, references_to_one_array_arrive_as_references_to_one_array) {
  carried::pointers sent;
  const auto shared = std::make_shared<array<double>>(std::vector<double>(2000, 0.5));
  sent.references.assign(99, shared);
  sent.watching.assign(3, shared);
  const auto made = encoded(sent);
  EXPECT_LT(made.size_bytes(), 2 * encoded(*shared).size_bytes() + 4096) << "one array and 98 numbers";
  const auto back = decoded<carried::pointers>(made);
  ASSERT_TRUE(back.has_value()) << back.error().message();
  ASSERT_EQ(back->references.size(), 99U);
  for (const auto& each : back->references)
    EXPECT_EQ(each, back->references[0]);
  EXPECT_EQ(back->references[0].use_count(), 99);
  EXPECT_EQ(*back->references[0], *shared);
  for (const auto& each : back->watching)
    EXPECT_EQ(each.lock(), back->references[0]);
}

TEST_P(travelling, a_pointer_to_what_nobody_owns_any_more_is_empty) {
  carried::pointers sent;
  sent.watching.emplace_back(std::make_shared<array<double>>());
  const auto back = decoded<carried::pointers>(encoded(sent));
  ASSERT_TRUE(back.has_value()) << back.error().message();
  ASSERT_EQ(back->watching.size(), 1U);
  EXPECT_EQ(back->watching[0].lock(), nullptr);
}

TEST_P(travelling, objects_that_refer_to_each_other_in_circles) {
  carried::knot start{.name = "start", .next = std::make_shared<carried::knot>(), .previous = {}, .friends = {}};
  auto& first = start.next;
  first->name = "first";
  first->next = std::make_shared<carried::knot>();
  first->next->name = "second";
  first->next->next = first;
  first->previous = first->next;
  first->next->previous = first;
  first->friends = {first, first->next, {}};
  const auto back = decoded<carried::knot>(encoded(start));
  ASSERT_TRUE(back.has_value()) << back.error().message();
  const auto one = back->next;
  ASSERT_NE(one, nullptr);
  const auto two = one->next;
  ASSERT_NE(two, nullptr);
  EXPECT_EQ(one->name + two->name, "firstsecond");
  EXPECT_EQ(two->next, one);
  EXPECT_EQ(one->previous.lock(), two);
  EXPECT_EQ(two->previous.lock(), one);
  ASSERT_EQ(one->friends.size(), 3U);
  EXPECT_EQ(one->friends[0].lock(), one);
  EXPECT_EQ(one->friends[1].lock(), two);
  EXPECT_EQ(one->friends[2].lock(), nullptr);
  two->next.reset();
  first->next->next.reset();
}

TEST_P(travelling, pointers_to_bases_lead_to_what_derives_from_them) {
  if (!GetParam().names_classes)
    GTEST_SKIP() << "classes need the family's own registration";
  carried::drawing sent;
  auto hoop = std::make_shared<carried::ring>();
  hoop->color = "red";
  hoop->radius = 2;
  hoop->hole = 1;
  sent.shared = {hoop, nullptr, std::make_shared<carried::disc>(), hoop};
  sent.sun = hoop;
  sent.owned.push_back(std::make_unique<carried::ring>(*hoop));
  const auto back = decoded<carried::drawing>(encoded(sent));
  ASSERT_TRUE(back.has_value()) << back.error().message();
  ASSERT_EQ(back->shared.size(), 4U);
  EXPECT_EQ(back->shared[0]->area(), 9);
  EXPECT_EQ(back->shared[0]->color, "red");
  EXPECT_EQ(back->shared[0], back->shared[3]);
  EXPECT_EQ(back->shared[0], back->sun);
  EXPECT_EQ(back->shared[1], nullptr);
  EXPECT_EQ(dynamic_cast<carried::ring*>(back->shared[2].get()), nullptr);
  EXPECT_EQ(back->owned[0]->area(), 9);
}

TEST_P(travelling, values_of_no_fixed_type_and_payloads_of_their_own) {
  carried::open_ended sent;
  record::map fields;
  fields.emplace_back("number", record(std::int64_t{-5}));
  fields.emplace_back("list", record(record::list{record(true), record(1.5), record()}));
  sent.any = record(std::move(fields));
  sent.many = {record(std::string("text")), record(), record(array<double>(std::vector<double>{1, 2}))};
  sent.content = to_serialize(carried::full_containers());
  sent.parts.emplace("text", to_serialize(std::string("inner")));
  sent.parts.emplace("none", serialized());
  const auto back = decoded<carried::open_ended>(encoded(sent));
  ASSERT_TRUE(back.has_value()) << back.error().message();
  ASSERT_NE(back->any.find("number"), nullptr);
  EXPECT_EQ(back->any.find("number")->real(), -5);
  EXPECT_EQ(back->any.find("list")->elements()->size(), 3U);
  ASSERT_EQ(back->many.size(), 3U);
  EXPECT_EQ(*back->many[0].text(), "text");
  const deserialize_options options{.deserializers = {GetParam().name}, .context = {}};
  EXPECT_EQ(*back->content.get<carried::containers>(options, types, families), carried::full_containers());
  EXPECT_EQ(*back->parts.at("text").get<std::string>(options, types, families), "inner");
  EXPECT_TRUE(back->parts.at("none").empty());
}

} // namespace
