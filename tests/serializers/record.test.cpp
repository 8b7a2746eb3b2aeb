// Values whose type is known only at run time, and payloads whose type this process does not have.
#include <gtest/gtest.h>

#include <troupe/serializers/cereal/cereal_type.hpp>
#include <troupe/serializers/record.hpp>

#include "rich.hpp"

namespace {

using namespace troupe;

struct holder {
  std::string name;
  record any;
  std::optional<record> maybe;
  std::vector<record> many;
};
TROUPE_DESCRIBE(holder, name, any, maybe, many)

struct holder_2 {
  std::vector<record> many;
  std::optional<record> maybe;
  int added = 7;
  record any;
};
TROUPE_DESCRIBE(holder_2, many, maybe, added, any)

struct shared_pair {
  std::shared_ptr<rich::leaf> left;
  std::shared_ptr<rich::leaf> right;
};
TROUPE_DESCRIBE(shared_pair, left, right)

struct twice {
  array<double> left;
  array<double> right;
};
TROUPE_DESCRIBE(twice, left, right)

class records : public testing::TestWithParam<const char*> {
protected:
  records() {
    families.add(std::make_unique<cereal_family>());
    add_cereal<holder>(types, "holder");
    types.add<shared_pair>("pair").add<twice>("twice");
    rich::add_to(types);
  }

  template <class T>
  std::expected<payload, serialize_error> encoded(const T& value) {
    return serialize(value, {.serializers = {GetParam()}, .on_error = on_error::raise, .context = {}}, types, families);
  }

  template <class T>
  T there_and_back(const T& value) {
    auto made = encoded(value);
    EXPECT_TRUE(made.has_value()) << made.error().message();
    auto back = deserialize<T>(*made, {.deserializers = {GetParam()}, .context = {}}, types, families);
    EXPECT_TRUE(back.has_value()) << back.error().message();
    return back ? *std::move(back) : T{};
  }

  /// Returns the value that a process reads if it has no type with the payload's alias.
  template <class T>
  record elsewhere(const T& value) {
    const type_registry knows_nothing;
    auto any =
        deserialize_any(*encoded(value), {.deserializers = {GetParam()}, .context = {}}, knows_nothing, families);
    EXPECT_TRUE(any.has_value()) << any.error().message();
    EXPECT_NE(any->template get<record>(), nullptr);
    EXPECT_EQ(any->alias(), types.find<T>()->alias());
    return *any->template get<record>();
  }

  type_registry types;
  family_set families;
};

INSTANTIATE_TEST_SUITE_P(, records, testing::Values("typed", "msgpack", "json", "cereal"),
                         [](const auto& of) { return of.param; });

record weather() {
  return record::of({{"sensor", "roof"},
                     {"celsius", -21.5},
                     {"count", 3},
                     {"huge", std::numeric_limits<std::uint64_t>::max()},
                     {"least", std::numeric_limits<std::int64_t>::min()},
                     {"on", true},
                     {"nothing", record()},
                     {"list", record::list{1, "two", record::list{}, record::map{}}},
                     {"nested", record::of({{"", "empty name"}, {"a", record::of({{"b", 1.0}})}})}});
}

TEST_P(records, travel_alone_and_inside_others) {
  EXPECT_EQ(there_and_back(weather()), weather());
  EXPECT_EQ(there_and_back(record()), record());
  const holder sent{.name = "n", .any = weather(), .maybe = record(), .many = {1, record(), "x"}};
  const auto back = there_and_back(sent);
  EXPECT_EQ(back.any, sent.any);
  ASSERT_TRUE(back.maybe.has_value());
  EXPECT_EQ(*back.maybe, record());
  EXPECT_EQ(back.many, sent.many);
}

TEST_P(records, carry_arrays_and_bytes) {
  const array<float> grid = array<float>::copy_of(std::vector<float>{1, 2, 3, 4, 5, 6}, {2, 3});
  const auto back = there_and_back(record::of({{"grid", grid}, {"bytes", rich::frame_of("raw")}}));
  ASSERT_NE(back.find("grid"), nullptr);
  EXPECT_EQ(back.find("grid")->as_array<float>(), grid);
  EXPECT_FALSE(back.find("bytes")->as_array<float>());
  ASSERT_NE(back.find("bytes")->bytes(), nullptr);
  EXPECT_EQ(rich::text_of(*back.find("bytes")->bytes()), "raw");
}

TEST_P(records, show_arrays_whose_memory_is_shared) {
  if (GetParam() == std::string_view("cereal"))
    GTEST_SKIP() << "its payloads do not say what they consist of";
  for (const auto order : {memory_order::c, memory_order::fortran}) {
    const array<double> grid(std::vector<double>(10'000, 0.5), {2'000, 5}, order);
    const auto repeated = *array<double>({1.0, 2.0}, {1, 2}).broadcast_to({3, 2});
    EXPECT_EQ(elsewhere(twice{grid, grid}).find("right")->as_array<double>(), grid);
    EXPECT_EQ(elsewhere(twice{grid, grid}).find("left")->as_array<float>()->size(), grid.size());
    EXPECT_FALSE(elsewhere(twice{grid, grid}).find("left")->as_array<int>());
    EXPECT_EQ(elsewhere(twice{repeated, repeated}).find("left")->as_array<double>(), repeated);
  }
}

TEST_P(records, of_many_small_numbers_fit_into_default_limits) {
  for (const int count : {33, 10'000, 65'537, 100'000}) {
    record::list numbers;
    for (int i = 0; i < count; ++i)
      numbers.emplace_back(i % 10);
    EXPECT_EQ(there_and_back(record(numbers)), record(numbers)) << count;
  }
}

TEST_P(records, show_what_a_process_has_no_type_for) {
  if (GetParam() == std::string_view("cereal"))
    GTEST_SKIP() << "its payloads do not say what they consist of";
  const auto value = rich::full();
  const auto seen = elsewhere(value);
  EXPECT_EQ(*seen.find("text")->text(), value.text);
  EXPECT_EQ(seen.find("i64")->integer(), value.i64);
  EXPECT_EQ(seen.find("f64")->real(), value.f64);
  EXPECT_EQ(*seen.find("paint")->text(), "blue");
  EXPECT_EQ(seen.find("money")->fields()->size(), 2U);
  EXPECT_EQ(seen.find("numbers")->as_array<double>()->to_vector(), value.numbers);
  EXPECT_EQ(seen.find("grid")->as_array<double>(), value.grid);
  EXPECT_EQ(seen.find("strings")->elements()->size(), value.strings.size());
  EXPECT_EQ(*seen.find("left"), *seen.find("right")) << "a shared object is there twice";
  EXPECT_EQ(*seen.find("wait")->text(), std::to_string(value.wait.count()) + "ms");
  EXPECT_EQ(seen.find("paints")->elements() != nullptr, !value.paints.empty()) << "keys that are no texts";
  EXPECT_EQ(seen.fields()->size(), fields_of<rich::everything>::count);
}

TEST_P(records, show_a_multimap_as_pairs_where_the_family_can_tell_it) {
  const std::multimap<std::string, int> value{{"a", 1}, {"a", 2}, {"b", 3}};
  types.add<std::multimap<std::string, int>>("many");
  if (GetParam() == std::string_view("cereal"))
    GTEST_SKIP() << "its payloads do not say what they consist of";
  if (GetParam() == std::string_view("msgpack")) {
    const type_registry knows_nothing;
    const auto any =
        deserialize_any(*encoded(value), {.deserializers = {GetParam()}, .context = {}}, knows_nothing, families);
    ASSERT_FALSE(any.has_value());
    EXPECT_NE(any.error().message().find("the same key twice"), std::string::npos);
    return;
  }
  EXPECT_EQ(elsewhere(value), record(record::list{record::list{"a", 1}, record::list{"a", 2}, record::list{"b", 3}}));
}

TEST_P(records, survive_another_version_around_them) {
  if (GetParam() == std::string_view("cereal"))
    GTEST_SKIP() << "equal versions only";
  type_registry newer;
  newer.add<holder_2>("holder");
  const holder sent{.name = "n", .any = weather(), .maybe = 5, .many = {record::of({{"a", 1}}), record()}};
  const auto back =
      deserialize<holder_2>(*encoded(sent), {.deserializers = {GetParam()}, .context = {}}, newer, families);
  ASSERT_TRUE(back.has_value()) << back.error().message();
  EXPECT_EQ(back->any, sent.any);
  EXPECT_EQ(back->maybe, record(5));
  EXPECT_EQ(back->many, sent.many);
  EXPECT_EQ(back->added, 7);
}

TEST_P(records, do_not_multiply_what_a_peer_sent_once) {
  if (GetParam() == std::string_view("cereal"))
    GTEST_SKIP() << "its payloads do not say what they consist of";
  std::vector<std::shared_ptr<std::vector<std::shared_ptr<rich::leaf>>>> rows;
  const auto leaf = std::make_shared<rich::leaf>(rich::leaf{std::string(2000, 'x')});
  for (int i = 0; i < 30; ++i)
    rows.push_back(std::make_shared<std::vector<std::shared_ptr<rich::leaf>>>(1000, leaf));
  types.add<decltype(rows)>("rows");
  const auto made = encoded(rows);
  ASSERT_TRUE(made.has_value());
  const type_registry knows_nothing;
  const auto any = deserialize_any(*made, {.deserializers = {GetParam()}, .context = {}}, knows_nothing, families);
  ASSERT_FALSE(any.has_value()) << "60 MB out of " << made->size_bytes();
  EXPECT_EQ(any.error().code(), serialize_errc::limit_exceeded);
}

TEST(record, knows_its_values) {
  const auto value = weather();
  EXPECT_EQ(value.kind(), record_kind::map);
  EXPECT_EQ(value.find("count")->kind(), record_kind::integer);
  EXPECT_EQ(value.find("huge")->kind(), record_kind::natural);
  EXPECT_FALSE(value.find("huge")->integer());
  EXPECT_EQ(value.find("count")->real(), 3.0);
  EXPECT_EQ(value.find("on")->boolean(), true);
  EXPECT_FALSE(value.find("on")->real());
  EXPECT_TRUE(value.find("nothing")->is_null());
  EXPECT_EQ(value.find("missing"), nullptr);
  EXPECT_EQ(value.find("sensor")->find("a"), nullptr);
  EXPECT_EQ(record(3U), record(3));
  EXPECT_NE(record(3), record(3.0));
  EXPECT_EQ(record(rich::frame_of("a")), record(rich::frame_of("a")));
  EXPECT_EQ(to_text(record::of({{"a", record::list{1, "b"}}, {"c", record()}})), "{\"a\", [1, \"b\"], \"c\", null}");
}

TEST(record, makes_arrays_of_lists) {
  EXPECT_EQ(record(record::list{1, 2}).as_array<std::uint8_t>()->to_vector(), (std::vector<std::uint8_t>{1, 2}));
  EXPECT_FALSE(record(record::list{1, 300}).as_array<std::uint8_t>());
  EXPECT_FALSE(record(record::list{1, "x"}).as_array<int>());
  EXPECT_FALSE(record(1).as_array<int>());
  const auto ragged = record::of({{"shape", record::list{2, 2}}, {"data", record::list{1, 2, 3}}});
  EXPECT_FALSE(ragged.as_array<int>());
}

TEST(record, makes_no_arrays_of_lists_that_differ_in_length) {
  using list = record::list;
  EXPECT_TRUE(record::of({{"data", list{list{1, 2}, list{3, 4}}}}).as_array<int>());
  EXPECT_FALSE(record::of({{"data", list{list{1, 2}, list{3}}}}).as_array<int>());
  EXPECT_FALSE(record(list{1, list{2}}).as_array<int>());
  EXPECT_FALSE(record(list{list{list{1}, list{}}, list{list{2}, list{}}}).as_array<int>());
}

TEST(record, repeats_elements_as_often_as_decoders_accept) {
  const auto repeated = [](std::int64_t times) {
    return record::of({{"shape", record::list{times}}, {"data_shape", record::list{1}}, {"data", record::list{1}}});
  };
  EXPECT_EQ(repeated(1 << 20).as_array<double>()->size(), 1U << 20);
  EXPECT_FALSE(repeated(INT64_MAX).as_array<std::uint8_t>());
  EXPECT_FALSE(repeated((8LL << 30) / 8 + 1).as_array<double>());
}

TEST(record, refuses_one_name_twice) {
  type_registry types;
  const family_set families;
  auto sent =
      *serialize(record::of({{"ab", 1}, {"ac", 2}}), {.serializers = {"msgpack"}, .context = {}}, types, families);
  std::vector<std::byte> body(sent.frames[0].bytes().begin(), sent.frames[0].bytes().end());
  ASSERT_EQ(std::to_integer<char>(body[7]), 'c');
  body[7] = std::byte{'b'};
  sent.frames[0] = frame::adopt(std::move(body));
  const auto back = deserialize<record>(sent, {}, types, families);
  ASSERT_FALSE(back.has_value());
  EXPECT_EQ(back.error().code(), serialize_errc::malformed);
}

// Goal: a value that another sender would write differently arrives as an equal record. If no receiver would read a
// record, it is not sent.
TEST(record, has_one_form_however_it_was_written) {
  type_registry types;
  const family_set families;
  record sent;
  sent.value() = std::uint64_t{5};
  const auto natural = deserialize<record>(*serialize(sent, {.serializers = {"typed"}, .context = {}}, types, families),
                                           {}, types, families);
  ASSERT_TRUE(natural.has_value()) << natural.error().message();
  EXPECT_EQ(*natural, record(5));
  sent = record::map{{"a", 1}, {"b", 2}, {"a", 3}};
  const auto twice =
      serialize(sent, {.serializers = {"typed"}, .on_error = on_error::raise, .context = {}}, types, families);
  ASSERT_FALSE(twice.has_value());
  EXPECT_EQ(twice.error().code(), serialize_errc::codec_failed);
}

record framed(const frame& data, std::string_view type, record::list shape) {
  return record::of({{"shape", std::move(shape)}, {"type", type}, {"data", data}});
}

TEST(records_of_frames, are_arrays_wherever_they_lie) {
  const std::vector<double> values{1.0, 2.0, 3.0};
  std::byte* into = nullptr;
  const auto block = frame::uninitialized(1 + 3 * sizeof(double), into);
  std::memcpy(into + 1, values.data(), 3 * sizeof(double));
  const auto unaligned = block.slice(1, 3 * sizeof(double));
  EXPECT_EQ(framed(unaligned, "f64", {3}).as_array<double>()->to_vector(), values);
  const auto aligned = frame::copy_of(std::as_bytes(std::span(values)));
  const auto viewed = framed(aligned, "f64", {3, 1}).as_array<double>();
  ASSERT_TRUE(viewed.has_value());
  EXPECT_EQ(reinterpret_cast<const std::byte*>(viewed->data()), aligned.bytes().data());
  EXPECT_EQ(framed(unaligned, "f64", {1, 3}).as_array<int>()->to_vector(), (std::vector{1, 2, 3}));
}

TEST(records_of_frames, that_do_not_fit_are_no_arrays) {
  const auto bytes = frame::copy_of(std::vector<std::byte>(24));
  EXPECT_TRUE(framed(bytes, "f64", {3}).as_array<double>());
  EXPECT_FALSE(framed(bytes, "f64", {4}).as_array<double>());
  EXPECT_FALSE(framed(bytes, "f64", {-3}).as_array<double>());
  EXPECT_FALSE(framed(bytes, "f65", {3}).as_array<double>());
  EXPECT_FALSE(framed(bytes, "", {24}).as_array<std::uint8_t>());
  EXPECT_FALSE(framed(bytes.slice(0, 23), "f64", {3}).as_array<double>());
  EXPECT_FALSE(framed(bytes.slice(0, 23), "f64", {2}).as_array<double>());
  record::list lengths(64, 1);
  lengths[0] = 3;
  EXPECT_TRUE(framed(bytes, "f64", lengths).as_array<double>());
  lengths.emplace_back(1);
  EXPECT_FALSE(framed(bytes, "f64", lengths).as_array<double>());
}

TEST(records_of_frames, repeat_no_more_than_decoders_accept) {
  const auto repeated = [](std::uint64_t times) {
    auto fields = *framed(frame::copy_of(std::vector<std::byte>(8)), "f64", {times}).fields();
    fields.emplace_back("data_shape", record::list{1});
    return record(std::move(fields)).as_array<double>();
  };
  EXPECT_EQ(repeated(1'000)->size(), 1'000u);
  EXPECT_TRUE(repeated(limits().memory_bytes / 8));
  EXPECT_FALSE(repeated(limits().memory_bytes / 8 + 1));
}

} // namespace
