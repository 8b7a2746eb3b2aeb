// Two versions of one member: the types that it may change to, and the error that names it if the change is not
// allowed. Whole messages are in evolution.test.cpp.
#include "every_family.hpp"

namespace parts {

// Three types that travel in the same form, by three means.
struct meters {
  double value = 0;
  [[nodiscard]] std::tuple<double> reduce() const { return {value}; }
  static meters rebuild(double value) { return {value}; }
  bool operator==(const meters&) const = default;
};

struct feet {
  double value = 0;
  [[nodiscard]] std::tuple<double> reduce() const { return {value}; }
  static feet rebuild(double value) { return {value}; }
  bool operator==(const feet&) const = default;
};

struct yards {
  double value = 0;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(value);
  }
  bool operator==(const yards&) const = default;
};

struct miles {
  double value = 0;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(value);
  }
  bool operator==(const miles&) const = default;
};

enum class north : std::uint8_t {};
enum class south : std::uint8_t {};
enum class lit : bool {};
enum class open : bool { no, yes };
TROUPE_DESCRIBE_ENUM(open, no, yes)

namespace metric {
struct length {
  double value = 0;
  bool operator==(const length&) const = default;
};
TROUPE_DESCRIBE(length, value)
} // namespace metric
namespace imperial {
struct length {
  double value = 0;
  bool operator==(const length&) const = default;
};
TROUPE_DESCRIBE(length, value)
} // namespace imperial

} // namespace parts

namespace {

using namespace conformance;
using namespace parts;

#define TROUPE_TEST_HOLDER(Name, ...)                                                                                  \
  struct Name {                                                                                                        \
    __VA_ARGS__ value{};                                                                                               \
  };                                                                                                                   \
  TROUPE_DESCRIBE(Name, value)
TROUPE_TEST_HOLDER(of_bool, bool)
TROUPE_TEST_HOLDER(of_i32, std::int32_t)
TROUPE_TEST_HOLDER(of_u32, std::uint32_t)
TROUPE_TEST_HOLDER(of_i64, std::int64_t)
TROUPE_TEST_HOLDER(of_u64, std::uint64_t)
TROUPE_TEST_HOLDER(of_f32, float)
TROUPE_TEST_HOLDER(of_f64, double)
TROUPE_TEST_HOLDER(of_text, std::string)
TROUPE_TEST_HOLDER(of_path, std::filesystem::path)
TROUPE_TEST_HOLDER(of_maybe, std::optional<std::int32_t>)
TROUPE_TEST_HOLDER(of_owned, std::unique_ptr<std::int32_t>)
TROUPE_TEST_HOLDER(of_vector, std::vector<std::int32_t>)
TROUPE_TEST_HOLDER(of_wider_list, std::list<std::int64_t>)
TROUPE_TEST_HOLDER(of_deque, std::deque<std::int32_t>)
TROUPE_TEST_HOLDER(of_set, std::set<std::int32_t>)
TROUPE_TEST_HOLDER(of_unordered, std::unordered_multiset<std::int32_t>)
TROUPE_TEST_HOLDER(of_three, std::array<std::int32_t, 3>)
TROUPE_TEST_HOLDER(of_map, std::map<std::string, std::int32_t>)
TROUPE_TEST_HOLDER(of_unordered_map, std::unordered_map<std::string, std::int64_t>)
TROUPE_TEST_HOLDER(of_multimap, std::multimap<std::string, std::int32_t>)
TROUPE_TEST_HOLDER(of_maps, std::map<std::string, of_three>)
TROUPE_TEST_HOLDER(of_wider_maps, std::map<std::string, of_wider_list>)
TROUPE_TEST_HOLDER(of_lit, lit)
TROUPE_TEST_HOLDER(of_open, open)
TROUPE_TEST_HOLDER(of_seconds, std::chrono::seconds)
TROUPE_TEST_HOLDER(of_narrow_seconds, std::chrono::duration<std::int8_t>)
TROUPE_TEST_HOLDER(of_real_seconds, std::chrono::duration<double>)
TROUPE_TEST_HOLDER(of_milliseconds, std::chrono::milliseconds)
TROUPE_TEST_HOLDER(of_system_time, std::chrono::sys_seconds)
TROUPE_TEST_HOLDER(of_steady_time, std::chrono::time_point<std::chrono::steady_clock, std::chrono::seconds>)
using lists = std::variant<std::vector<std::int32_t>, std::set<std::int32_t>>;
using sets = std::variant<std::set<std::int32_t>, std::vector<std::int32_t>>;
TROUPE_TEST_HOLDER(of_lengths, std::variant<meters, feet, yards, miles>)
TROUPE_TEST_HOLDER(of_lengths_reversed, std::variant<miles, yards, feet, meters>)
TROUPE_TEST_HOLDER(of_directions, std::variant<north, south>)
TROUPE_TEST_HOLDER(of_directions_reversed, std::variant<south, north>)
TROUPE_TEST_HOLDER(of_systems, std::variant<metric::length, imperial::length>)
TROUPE_TEST_HOLDER(of_systems_reversed, std::variant<imperial::length, metric::length>)
TROUPE_TEST_HOLDER(of_lists, lists)
TROUPE_TEST_HOLDER(of_lists_reversed, sets)
TROUPE_TEST_HOLDER(of_pair, std::variant<std::int32_t, std::int32_t>)
TROUPE_TEST_HOLDER(of_feet_only, std::variant<feet>)
#undef TROUPE_TEST_HOLDER

struct nothing {};
TROUPE_DESCRIBE(nothing)

struct defaults {
  int number = 7;
  std::string text = "default";
  std::vector<int> list = {1, 2};
  std::optional<int> maybe = 3;
  rich::color paint = rich::color::green;
  std::shared_ptr<int> shared = std::make_shared<int>(4);
};
TROUPE_DESCRIBE(defaults, number, text, list, maybe, paint, shared)

struct reversed {
  std::shared_ptr<int> shared;
  rich::color paint = rich::color::red;
  std::optional<int> maybe;
  std::vector<int> list;
  std::string text;
  int number = 0;
};
TROUPE_DESCRIBE(reversed, shared, paint, maybe, list, text, number)

class versions : public every_family {
protected:
  // Sends a value of one program's type, and decodes it as the other program's type with the same alias.
  template <class To, class From>
  std::expected<To, serialize_error> sent(const From& value) {
    type_registry there;
    add_cereal<From>(with_lengths(there), "message");
    type_registry here;
    add_cereal<To>(with_lengths(here), "message");
    const auto made = serialize(value, {.serializers = {GetParam().name}, .on_error = on_error::raise, .context = {}},
                                there, families);
    if (!made)
      return std::unexpected(made.error());
    return deserialize<To>(*made, {.deserializers = {GetParam().name}, .context = {}}, here, families);
  }

  static type_registry& with_lengths(type_registry& types) {
    return types
        .register_serializer<yards>([](yards of) { return of.value; }, [](double value) { return yards{value}; })
        .register_serializer<miles>([](miles of) { return of.value; }, [](double value) { return miles{value}; });
  }

  template <class To, class From>
  void expect_becomes(From value, const decltype(To::value)& expected) {
    const auto back = sent<To>(value);
    if (!GetParam().names_fields)
      return expect_mismatch(back);
    ASSERT_TRUE(back.has_value()) << back.error().message();
    EXPECT_EQ(back->value, expected);
  }

  /// Expects a refusal that names the field and ends with this reason.
  template <class To, class From>
  void expect_refused(From value, const std::string& field, const std::string& reason) {
    const auto back = sent<To>(value);
    if (!GetParam().names_fields)
      return expect_mismatch(back);
    ASSERT_FALSE(back.has_value());
    EXPECT_TRUE(back.error().message().starts_with(said(field))) << back.error().message();
    EXPECT_TRUE(back.error().message().ends_with(reason)) << back.error().message();
  }

  template <class Result>
  static void expect_mismatch(const Result& back) {
    ASSERT_FALSE(back.has_value());
    EXPECT_EQ(back.error().code(), serialize_errc::layout_mismatch) << back.error().message();
  }
};

INSTANTIATE_TEST_SUITE_P(, versions, testing::ValuesIn(all_families), name_of_row);

TEST_P(versions, of_a_number_are_converted_where_nothing_is_lost) {
  expect_becomes<of_i64>(of_i32{-5}, -5);
  expect_becomes<of_i32>(of_i64{INT32_MIN}, INT32_MIN);
  expect_becomes<of_u64>(of_i64{INT64_MAX}, std::uint64_t{INT64_MAX});
  expect_becomes<of_f64>(of_i32{7}, 7.0);
  expect_becomes<of_i32>(of_f64{-3.0}, -3);
  expect_becomes<of_f32>(of_f64{0.1}, 0.1F);
  expect_becomes<of_f64>(of_f32{0.5F}, 0.5);
}

TEST_P(versions, of_a_number_that_does_not_fit_are_refused) {
  expect_refused<of_i32>(of_i64{std::int64_t{1} << 40}, "message.value: ", " does not fit i32");
  expect_refused<of_u32>(of_i32{-1}, "message.value: -1", " does not fit u32");
  expect_refused<of_i64>(of_u64{UINT64_MAX}, "message.value: 18", " does not fit i64");
  expect_refused<of_i32>(of_f64{1.5}, "message.value: 1.5", " does not fit i32");
  expect_refused<of_i64>(of_f64{1e300}, "message.value: ", " does not fit i64");
  expect_refused<of_f32>(of_f64{1e300}, "message.value: ", " does not fit f32");
  expect_refused<of_f64>(of_i64{(std::int64_t{1} << 53) + 1}, "message.value: 9", " does not fit f64");
}

TEST_P(versions, of_another_sort_of_value_are_refused) {
  expect_refused<of_i32>(of_bool{true}, "message.value: ", "");
  expect_refused<of_bool>(of_i32{1}, "message.value: ", "");
  expect_refused<of_text>(of_i32{1}, "message.value: ", "");
  expect_refused<of_i32>(of_text{"1"}, "message.value: ", "");
  expect_refused<of_vector>(of_i32{1}, "message.value: ", "");
  expect_refused<of_i32>(of_vector{{1}}, "message.value: ", "");
}

TEST_P(versions, of_a_value_that_became_optional_or_ceased_to_be) {
  expect_becomes<of_maybe>(of_i32{5}, 5);
  expect_becomes<of_i32>(of_maybe{5}, 5);
  expect_refused<of_i32>(of_maybe{}, "message.value: ", "");
  const auto owned = sent<of_owned>(of_maybe{6});
  if (!GetParam().names_fields)
    return expect_mismatch(sent<of_maybe>(of_i32{}));
  ASSERT_TRUE(owned.has_value()) << owned.error().message();
  EXPECT_EQ(*owned->value, 6);
}

TEST_P(versions, of_a_text_and_a_path) {
  // `cereal` assumes that both have the same layout.
  const auto back = sent<of_path>(of_text{"/a"});
  ASSERT_TRUE(back.has_value()) << back.error().message();
  EXPECT_EQ(back->value, "/a");
}

TEST_P(versions, of_a_container) {
  const of_vector three{{3, 1, 2}};
  expect_becomes<of_wider_list>(three, {3, 1, 2});
  expect_becomes<of_set>(three, {1, 2, 3});
  expect_becomes<of_three>(three, {3, 1, 2});
  expect_becomes<of_vector>(of_wider_list{{1, -1}}, {1, -1});
  expect_becomes<of_vector>(of_three{{1, 2, 3}}, {1, 2, 3});
  expect_becomes<of_vector>(of_unordered{{1, 1, 1}}, {1, 1, 1});
  expect_becomes<of_wider_list>(of_vector{std::vector<std::int32_t>(2000, 5)}, std::list<std::int64_t>(2000, 5));
  expect_becomes<of_unordered_map>(of_map{{{"a", 1}, {"b", 2}}}, {{"a", 1}, {"b", 2}});
}

TEST_P(versions, of_a_container_with_the_same_layout) {
  const auto deque = sent<of_deque>(of_set{{1, 2}});
  ASSERT_TRUE(deque.has_value()) << deque.error().message();
  EXPECT_EQ(deque->value, (std::deque<std::int32_t>{1, 2}));
}

TEST_P(versions, of_a_container_that_would_lose_something_are_refused) {
  expect_refused<of_set>(of_vector{{1, 2, 1}}, "message.value[2]: ", "the same key twice");
  expect_refused<of_three>(of_vector{{1, 2}}, "message.value: ", "the list does not have the expected 3 elements");
  expect_refused<of_three>(of_vector{{1, 2, 3, 4}}, "message.value", "the list does not have the expected 3 elements");
  expect_refused<of_vector>(of_wider_list{{1, std::int64_t{1} << 40}}, "message.value[1]: ", " does not fit i32");
}

TEST_P(versions, of_what_lies_in_a_container) {
  const auto back = sent<of_wider_maps>(of_maps{{{"a", {{1, 2, 3}}}}});
  if (!GetParam().names_fields)
    return expect_mismatch(back);
  ASSERT_TRUE(back.has_value()) << back.error().message();
  EXPECT_EQ(back->value.at("a").value, (std::list<std::int64_t>{1, 2, 3}));
  const auto refused = sent<of_maps>(of_wider_maps{{{"a", {{1, std::int64_t{1} << 40, 3}}}}});
  ASSERT_FALSE(refused.has_value());
  EXPECT_TRUE(refused.error().message().starts_with(said("message.value[0].value[1]: "))) << refused.error().message();
}

TEST_P(versions, without_a_field_leave_its_default) {
  const auto back = sent<defaults>(nothing{});
  if (!GetParam().names_fields)
    return expect_mismatch(back);
  ASSERT_TRUE(back.has_value()) << back.error().message();
  EXPECT_EQ(back->number, 7);
  EXPECT_EQ(back->text, "default");
  EXPECT_EQ(back->list, (std::vector<int>{1, 2}));
  EXPECT_EQ(back->maybe, 3);
  EXPECT_EQ(back->paint, rich::color::green);
  EXPECT_EQ(*back->shared, 4);
  EXPECT_TRUE(sent<nothing>(defaults{}).has_value());
}

TEST_P(versions, in_another_order) {
  const defaults value{1, "two", {3}, std::nullopt, rich::color::blue, std::make_shared<int>(5)};
  const auto back = sent<reversed>(value);
  if (!GetParam().names_fields)
    return expect_mismatch(back);
  ASSERT_TRUE(back.has_value()) << back.error().message();
  EXPECT_EQ(back->number, 1);
  EXPECT_EQ(back->text, "two");
  EXPECT_EQ(back->list, (std::vector<int>{3}));
  EXPECT_EQ(back->maybe, std::nullopt);
  EXPECT_EQ(back->paint, rich::color::blue);
  EXPECT_EQ(*back->shared, 5);
}

// A map would lose a repeated key.
TEST_P(versions, of_a_map_that_had_keys_twice_are_refused) {
  const auto back = sent<of_map>(of_multimap{{{"k", 1}, {"k", 2}}});
  ASSERT_FALSE(back.has_value());
  EXPECT_TRUE(back.error().message().starts_with(said("message.value"))) << back.error().message();
}

TEST_P(versions, of_a_time_are_never_taken_for_another_time) {
  expect_becomes<of_real_seconds>(of_seconds{std::chrono::seconds(-5)}, std::chrono::duration<double>(-5));
  expect_becomes<of_narrow_seconds>(of_seconds{std::chrono::seconds(127)}, std::chrono::duration<std::int8_t>(127));
  if (!GetParam().names_fields)
    return;
  const auto reason_of = [&](const auto& back) { return back ? "none" : back.error().message(); };
  EXPECT_TRUE(
      reason_of(sent<of_milliseconds>(of_seconds{std::chrono::seconds(5)})).starts_with(said("message.value: ")));
  EXPECT_TRUE(reason_of(sent<of_steady_time>(of_system_time{})).starts_with(said("message.value: ")));
  EXPECT_TRUE(reason_of(sent<of_seconds>(of_system_time{})).starts_with(said("message.value: ")));
  EXPECT_TRUE(reason_of(sent<of_seconds>(of_text{"5 apples"})).starts_with(said("message.value: ")));
  EXPECT_TRUE(reason_of(sent<of_i64>(of_seconds{std::chrono::seconds(5)})).starts_with(said("message.value: ")));
  expect_refused<of_narrow_seconds>(of_seconds{std::chrono::seconds(128)}, "message.value", "128 does not fit i8");
}

TEST_P(versions, of_a_variant_are_told_apart_by_their_types_not_by_their_order) {
  expect_becomes<of_lengths_reversed>(of_lengths{meters{1}}, meters{1});
  expect_becomes<of_lengths_reversed>(of_lengths{feet{2}}, feet{2});
  expect_becomes<of_lengths_reversed>(of_lengths{yards{3}}, yards{3});
  expect_becomes<of_lengths_reversed>(of_lengths{miles{4}}, miles{4});
  expect_becomes<of_directions_reversed>(of_directions{south(7)}, south(7));
  expect_becomes<of_systems_reversed>(of_systems{imperial::length{8}}, imperial::length{8});
  expect_becomes<of_lists_reversed>(of_lists{std::set{1, 2}}, std::set{1, 2});
  expect_becomes<of_lists_reversed>(of_lists{std::vector{1, 2}}, std::vector{1, 2});
  EXPECT_FALSE(sent<of_feet_only>(of_lengths{meters{1}}));
}

TEST_P(versions, of_one_type_that_is_there_twice_are_told_apart_by_their_order) {
  const of_pair value{std::variant<std::int32_t, std::int32_t>(std::in_place_index<1>, 5)};
  const auto back = sent<of_pair>(value);
  ASSERT_TRUE(back.has_value()) << back.error().message();
  EXPECT_EQ(back->value.index(), 1U);
  EXPECT_EQ(std::get<1>(back->value), 5);
}

TEST_P(versions, of_an_enum_of_bool_arrive) {
  const auto back = sent<of_lit>(of_lit{lit(true)});
  ASSERT_TRUE(back.has_value()) << back.error().message();
  EXPECT_EQ(back->value, lit(true));
  const auto named = sent<of_open>(of_open{open::yes});
  ASSERT_TRUE(named.has_value()) << named.error().message();
  EXPECT_EQ(named->value, open::yes);
  const auto plain = sent<of_lit>(of_bool{true}); // A bool has the same layout.
  ASSERT_TRUE(plain.has_value()) << plain.error().message();
  EXPECT_EQ(plain->value, lit(true));
}

} // namespace
