// inspect_serializability: its findings in types, values and functions, and its reports. serializable<T, Family>: the
// same question at compile time.
#include <any>
#include <atomic>
#include <bitset>
#include <cstdio>
#include <fstream>
#include <functional>
#include <mutex>
#include <span>
#include <stdexcept>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <troupe/serializers/cereal/cereal_type.hpp>
#include <troupe/serializers/inspect.hpp>
#include <troupe/serializers/internal/diagnose/inspecting.hpp>
#include <troupe/serializers/serializable.hpp>
#include <troupe/serializers/typed/typed_family.hpp>

#include "rich.hpp"

namespace shop {

struct item {
  std::string name;
  std::mutex lock;
};
TROUPE_DESCRIBE(item, name, lock)

struct batch {
  int number = 0;
  std::vector<item> items;
};
TROUPE_DESCRIBE(batch, number, items)

struct plain {
  int x = 0;
};

union either {
  int a;
  float b;
};

struct abstract {
  virtual ~abstract() = default;
  virtual void act() = 0;
};

class without_default {
public:
  explicit without_default(int x) : x_(x) {}
  TROUPE_DESCRIBE_INSIDE(without_default, x_)

private:
  int x_;
};

struct close_file {
  void operator()(int* of) const { delete of; }
};

struct offenders {
  std::thread runner;
  std::atomic<int> count;
  int* address = nullptr;
  const char* text = nullptr;
  std::FILE* file = nullptr;
  std::ofstream log;
  void (*function)() = nullptr;
  std::function<void()> callback;
  std::any anything;
  std::string_view view;
  std::span<const int> numbers;
  std::unique_ptr<int[]> many;
  std::unique_ptr<int, close_file> handle;
  either choice{};
  std::unique_ptr<abstract> behaviour;
  std::vector<plain> plains;
  std::optional<without_default> late;
};
TROUPE_DESCRIBE(offenders, runner, count, address, text, file, log, function, callback, anything, view, numbers, many,
                handle, choice, behaviour, plains, late)

// Contains itself; the member that cannot travel comes after the recursion.
struct inner;
struct outer {
  std::vector<inner> inners;
  std::any anything;
};
struct inner {
  std::vector<outer> outers;
};
TROUPE_DESCRIBE(outer, inners, anything)
TROUPE_DESCRIBE(inner, outers)

// Throws when constructed from a number.
struct sticker {
  sticker() = default;
  explicit sticker(int) { throw std::runtime_error("no"); }
  std::string text;
};
TROUPE_DESCRIBE(sticker, text)

// Values of this type may fail, although the type can travel.
struct paints {
  std::vector<rich::color> list;
  std::map<int, std::vector<rich::color>> by_number;
  std::unique_ptr<paints> more;
  std::variant<int, sticker> either;
  std::tuple<int, rich::color> two{0, rich::color::red};
};
TROUPE_DESCRIBE(paints, list, by_number, more, either, two)

class even {
public:
  even() = default;
  explicit even(int of) : of_(of) {}
  [[nodiscard]] std::tuple<int> reduce() const {
    if (of_ == 13)
      throw std::domain_error("thirteen is never sent");
    return {of_};
  }
  static even rebuild(int of) {
    if (of % 2 != 0)
      throw std::domain_error("odd");
    return even(of);
  }

private:
  int of_ = 0;
};

struct tool {
  int weight = 0;
  virtual ~tool() = default;
};
TROUPE_DESCRIBE(tool, weight)
struct hammer : tool {};
struct box {
  std::unique_ptr<tool> content;
};
TROUPE_DESCRIBE(box, content)

struct adder {
  int to = 0;
  int operator()(int x) const { return to + x; }
};
TROUPE_DESCRIBE(adder, to)

struct guarded_adder {
  std::shared_ptr<item> state;
  int operator()(int x) const { return x; }
  int operator()(int x, int y) const { return x + y; }
};
TROUPE_DESCRIBE(guarded_adder, state)

struct doubler {
  int factor = 2;
  int operator()(int x) const { return factor * x; }
};

struct lamp { // Only cereal carries it.
  std::string room;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(room);
  }
};

struct house {
  std::vector<lamp> lamps;
};
TROUPE_DESCRIBE(house, lamps)

int twice(int x) {
  return 2 * x;
}

} // namespace shop

namespace {

using namespace troupe;
using testing::HasSubstr;
using travels = family_answer::travels;

// -- at compile time

static_assert(serializable<rich::everything, typed_family>);
static_assert(serializable<rich::tree, typed_family>);
static_assert(serializable<rich::everything, cereal_family>);
static_assert(
    std::same_as<hindrance_of<shop::batch, typed_family>, cannot_travel<fixed_text<12>{"items[].lock"}, std::mutex>>);
static_assert(
    std::same_as<hindrance_of<std::map<int, std::any>, typed_family>, cannot_travel<fixed_text<2>{"{}"}, std::any>>);
static_assert(std::same_as<hindrance_of<std::tuple<int, const char*>, typed_family>,
                           cannot_travel<fixed_text<3>{"<1>"}, const char*>>);
static_assert(!serializable<int&, typed_family> && !serializable<int(int), typed_family>);
static_assert(!serializable<shop::lamp, typed_family> && serializable<shop::lamp, cereal_family>);
static_assert(!serializable<shop::house, typed_family> && serializable<shop::house, cereal_family>);
static_assert(!serializable<shop::batch, cereal_family> && !serializable<int*, cereal_family>);

// -- types

class inspecting : public testing::Test {
protected:
  template <class T>
  serializability of() const {
    return inspect_serializability<T>(types, families);
  }
  serializability of_value(const auto& value) const { return inspect_serializability(value, types, families); }

  static std::string reason_of(const serializability& told, std::string_view family = "typed") {
    for (const auto& each : told.families)
      if (each.family == family)
        return each.reason;
    return "no such family";
  }

  type_registry types;
  family_set families;
};

TEST_F(inspecting, finds_the_mutex_in_a_struct_in_a_vector) {
  const auto told = of<shop::batch>();
  EXPECT_FALSE(told.ok());
  const auto* lock = told.find("batch.items[].lock");
  ASSERT_NE(lock, nullptr);
  EXPECT_EQ(lock->type, "std::mutex");
  for (const auto* family : {"typed", "msgpack", "json"}) {
    EXPECT_FALSE(told.carried_by(family));
    EXPECT_EQ(reason_of(told, family), "batch.items[].lock: std::mutex guards memory of its own process");
    EXPECT_FALSE(lock->carried_by(family));
    EXPECT_TRUE(told.find("batch.items[].name")->carried_by(family));
  }
  EXPECT_THAT(lock->advice, HasSubstr("codec<T>"));
}

TEST_F(inspecting, prints_a_tree_of_what_hinders) {
  EXPECT_EQ(of<shop::batch>().to_text(),
            "typed  msgpack  json  \n"
            "no     no       no    batch: shop::batch\n"
            "                        do: register it: types.add<shop::batch>(\"an.alias\")\n"
            "no     no       no      batch.items: std::vector<shop::item>\n"
            "no     no       no        batch.items[]: shop::item\n"
            "no     no       no          batch.items[].lock: std::mutex\n"
            "                              why: std::mutex guards memory of its own process\n"
            "                              do: keep it out of the type that is sent, or give that type a codec<T> that "
            "makes a new one on arrival; without a description use types.register_serializer<T>(to, from)\n"
            "                            and 1 more without problems\n"
            "                        and 1 more without problems\n");
}

TEST_F(inspecting, agrees_with_the_families_about_everything_that_travels) {
  rich::add_to(types);
  const auto told = inspect_serializability("everything", types, families);
  ASSERT_TRUE(told.has_value()) << told.error().message();
  EXPECT_TRUE(told->ok());
  EXPECT_EQ(told->to_text(), "typed  msgpack  json  \nyes    yes      yes   everything: rich::everything\n");
  EXPECT_EQ(told->find("everything.root.children[]")->type, "rich::tree");
  EXPECT_EQ(told->find("everything.index{key}")->type, "std::string");
  for (const auto* entry : types.entries()) {
    const auto each = inspect_serializability(entry->alias(), types, families);
    EXPECT_EQ(each->carried_by("typed"), entry->unsupported().empty()) << entry->alias();
  }
}

TEST_F(inspecting, knows_what_to_do_about_the_usual_offenders) {
  const auto told = of<shop::offenders>();
  const std::vector<std::pair<std::string, std::string>> expected{
      {"runner", "actor"},
      {"count", "plain value"},
      {"address", "std::shared_ptr"},
      {"text", "std::string"},
      {"file", "std::filesystem::path"},
      {"log", "std::filesystem::path"},
      {"function", "described functor"},
      {"callback", "described functor"},
      {"anything", "std::variant"},
      {"view", "std::string"},
      {"numbers", "std::vector"},
      {"many", "std::vector"},
      {"handle", "without one"},
      {"choice", "std::variant"},
      {"plains[]", "add TROUPE_DESCRIBE(plain, ...)"},
      {"late", "codec<T>"},
  };
  for (const auto& [field, advice] : expected) {
    const auto* place = told.find("offenders." + field);
    ASSERT_NE(place, nullptr) << field;
    EXPECT_EQ(place->families[0].answer, travels::no) << field;
    EXPECT_THAT(place->advice, HasSubstr(advice)) << field;
  }
  EXPECT_THAT(of<int&>().advice, HasSubstr("the value itself"));
}

TEST_F(inspecting, unfolds_a_type_once_and_knows_that_it_is_hindered_elsewhere_too) {
  const auto told = of<shop::inner>();
  const auto* again = told.find("inner.outers[].inners[]");
  ASSERT_NE(again, nullptr);
  EXPECT_TRUE(again->children.empty());
  EXPECT_EQ(reason_of(*again), "inner.outers[].inners[]: has the same problem as shop::inner further up");
  EXPECT_EQ(reason_of(told), "inner.outers[].inners[]: has the same problem as shop::inner further up");
  EXPECT_EQ(told.find("inner.outers[].anything")->families[0].answer, travels::no);
}

TEST_F(inspecting, says_that_nobody_registered_the_type) {
  const auto told = of<rich::point>();
  EXPECT_FALSE(told.ok());
  EXPECT_EQ(reason_of(told), "point: is in no registry");
  EXPECT_EQ(told.advice, "register it: types.add<rich::point>(\"an.alias\")");
  types.add<rich::point>("point");
  EXPECT_TRUE(of<rich::point>().ok());
}

TEST_F(inspecting, fails_for_an_alias_that_nobody_registered) {
  const auto told = inspect_serializability("weather.reading", types, families);
  ASSERT_FALSE(told.has_value());
  EXPECT_EQ(told.error().code(), serialize_errc::unknown_type);
  EXPECT_EQ(told.error().message(), "no type with the alias 'weather.reading' is registered: "
                                    "types.add<...>(\"weather.reading\"), or ask by the C++ type");
}

TEST_F(inspecting, tells_that_a_type_has_a_codec_in_the_registry) {
  types.add<shop::plain>(
      "plain",
      [](const shop::plain&, const context&) -> std::expected<own_form, serialize_error> { return own_form{}; },
      [](std::span<const std::byte>, std::span<const frame>,
         const context&) -> std::expected<shop::plain, serialize_error> { return shop::plain{}; });
  const auto told = of<shop::plain>();
  EXPECT_TRUE(told.carried_by("typed"));
  EXPECT_TRUE(told.carried_by("msgpack"));
  EXPECT_EQ(told.note, "has a codec in this registry");
}

TEST_F(inspecting, asks_cereal_by_its_own_rule) {
  families.add(std::make_unique<cereal_family>());
  add_cereal<shop::lamp>(types, "lamp");
  const auto told = of<shop::lamp>();
  EXPECT_TRUE(told.ok());
  EXPECT_TRUE(told.carried_by("cereal"));
  EXPECT_FALSE(told.carried_by("typed"));
  EXPECT_THAT(told.advice, HasSubstr("TROUPE_DESCRIBE(lamp, ...)"));

  types.add<shop::house>("house");
  const auto house = of<shop::house>();
  EXPECT_EQ(reason_of(house, "cereal"), "house: it was not registered with add_cereal<T>(types, alias)");
  EXPECT_TRUE(house.find("house.lamps[]")->carried_by("cereal"));
  EXPECT_EQ(house.find("house.lamps")->families.back().answer, travels::unknown);

  add_cereal<shop::house>(types, "house");
  EXPECT_TRUE(of<shop::house>().find("house.lamps")->carried_by("cereal"));
}

class picky_family final : public family {
public:
  [[nodiscard]] std::string_view name() const override { return "picky"; }
  [[nodiscard]] std::string unsupported(const type_entry& entry) const override {
    return entry.alias() == "point" ? "has no taste" : entry.unsupported();
  }
  [[nodiscard]] std::expected<void, serialize_error> encode(const type_entry&, const void*, const context&,
                                                            encode_output&) const override {
    return {};
  }
  [[nodiscard]] std::expected<void, serialize_error> decode(const type_entry&, void*, const header_fields&,
                                                            std::span<const frame>, const context&) const override {
    return {};
  }
};

TEST_F(inspecting, asks_a_family_of_the_users_own) {
  families.add(std::make_unique<picky_family>());
  types.add<rich::point>("point").add<rich::leaf>("leaf");
  EXPECT_EQ(reason_of(of<rich::point>(), "picky"), "point: has no taste");
  EXPECT_TRUE(of<rich::leaf>().carried_by("picky"));
  EXPECT_THAT(of<rich::point>().to_text(), HasSubstr("why: has no taste"));
}

// -- values

class inspecting_values : public inspecting {
protected:
  inspecting_values() { types.add<shop::paints>("paints").add<shop::box>("box").add<shop::even>("even"); }
};

TEST_F(inspecting_values, are_fine_when_they_travel) {
  EXPECT_TRUE(of_value(shop::paints{}).ok());
  EXPECT_TRUE(of_value(rich::point{}).find("point") != nullptr) << "an unregistered type";
  EXPECT_TRUE(of_value(3).carried_by("json"));
}

TEST_F(inspecting_values, mark_an_enumerator_without_a_name) {
  shop::paints value;
  value.list = {rich::color::red, rich::color{9}};
  const auto told = of_value(value);
  EXPECT_FALSE(told.ok());
  EXPECT_EQ(reason_of(*told.find("paints.list[]"), "json"), "paints.list[1]: 9 is no value of the enum color");
  EXPECT_FALSE(told.find("paints.list")->ok());
  EXPECT_TRUE(told.find("paints.by_number")->ok());
  EXPECT_THAT(told.find("paints.list[]")->advice, HasSubstr("the value is refused"));
}

TEST_F(inspecting_values, mark_places_behind_maps_tuples_and_pointers) {
  shop::paints value;
  value.by_number[4] = {rich::color{5}};
  EXPECT_FALSE(of_value(value).find("paints.by_number{}[]")->ok());

  shop::paints other;
  std::get<1>(other.two) = rich::color{6};
  EXPECT_FALSE(of_value(other).find("paints.two<1>")->ok());
  EXPECT_TRUE(of_value(other).find("paints.two<0>")->ok());

  shop::paints outside;
  outside.more = std::make_unique<shop::paints>(std::move(other));
  const auto told = of_value(outside);
  EXPECT_EQ(reason_of(*told.find("paints.more->")), "paints.more.two[1]: 6 is no value of the enum color");
}

TEST_F(inspecting_values, mark_a_valueless_variant) {
  shop::paints value;
  EXPECT_THROW(value.either.emplace<shop::sticker>(1), std::runtime_error);
  ASSERT_TRUE(value.either.valueless_by_exception());
  EXPECT_EQ(reason_of(*of_value(value).find("paints.either")), "paints.either: the variant is valueless");
}

TEST_F(inspecting_values, mark_a_pointer_to_a_derived_class) {
  shop::box value{std::make_unique<shop::hammer>()};
  const auto told = of_value(value);
  EXPECT_FALSE(told.ok());
  EXPECT_THAT(reason_of(*told.find("box.content")), HasSubstr("shop::hammer"));
  EXPECT_THAT(told.find("box.content")->note, HasSubstr("alias"));
}

TEST_F(inspecting_values, are_told_when_they_are_too_deep) {
  shop::paints value;
  auto* last = &value;
  for (int i = 0; i < 300; ++i)
    last = (last->more = std::make_unique<shop::paints>()).get();
  const auto told = of_value(value);
  EXPECT_THAT(reason_of(told), HasSubstr("limits::depth"));
  EXPECT_THAT(told.find("paints.more->")->advice, HasSubstr("raise the limit"));
}

TEST_F(inspecting_values, are_told_when_a_codec_throws) {
  EXPECT_THAT(reason_of(of_value(shop::even(13))), HasSubstr("thirteen is never sent"));
  EXPECT_TRUE(of_value(shop::even(2)).ok());
  EXPECT_EQ(reason_of(of_value(shop::even(3))), "even: when it is decoded, a codec threw: odd");
}

TEST_F(inspecting_values, see_the_context) {
  context ctx;
  ctx.limits.depth = 1;
  shop::paints value;
  value.by_number[1] = {rich::color::red};
  EXPECT_FALSE(inspect_serializability(value, types, families, ctx).ok());
}

// -- functions

using inspecting_functions = inspecting;

TEST_F(inspecting_functions, a_described_functor_travels_as_the_value_that_it_is) {
  types.add<shop::adder>("adder");
  EXPECT_TRUE(of_value(shop::adder{3}).ok());
}

TEST_F(inspecting_functions, the_mutex_that_a_functor_captured_is_found) {
  const auto told = of_value(shop::guarded_adder{});
  EXPECT_FALSE(told.ok());
  EXPECT_EQ(reason_of(told), "guarded_adder.state->.lock: std::mutex guards memory of its own process");
}

TEST_F(inspecting_functions, an_undescribed_functor_is_to_be_described) {
  EXPECT_EQ(of_value(shop::doubler{}).advice,
            "add TROUPE_DESCRIBE(doubler, ...), with all its fields, beside it; or if it cannot be changed, "
            "types.register_serializer<shop::doubler>(to, from) at both ends");
}

TEST_F(inspecting_functions, addresses_of_functions_do_not_travel) {
  for (const auto& told : {of_value(shop::twice), of_value(&shop::twice), of_value(&shop::adder::operator())}) {
    EXPECT_FALSE(told.ok());
    EXPECT_THAT(reason_of(told), HasSubstr("address of code"));
    EXPECT_THAT(told.advice, HasSubstr("described functor"));
    EXPECT_THAT(told.advice, HasSubstr("types.add_function<&f>"));
    EXPECT_THAT(told.advice, HasSubstr("fn_ref<&f>"));
  }
}

TEST_F(inspecting_functions, lambdas_do_not_travel) {
  int captured = 1;
  const auto with = of_value([captured](auto x) { return captured + x; });
  EXPECT_FALSE(with.ok());
  EXPECT_THAT(reason_of(with), HasSubstr("does not expose its captures"));
  EXPECT_THAT(with.advice, HasSubstr("described functor"));
  EXPECT_THAT(with.advice, HasSubstr("fn_ref<&f>"));
  EXPECT_THAT(reason_of(of_value([](int x) { return x; })), HasSubstr("code does not travel"));
}

TEST_F(inspecting_functions, a_std_function_says_what_it_holds) {
  const auto told = of_value(std::function<int(int)>(shop::adder{1}));
  EXPECT_FALSE(told.ok());
  EXPECT_EQ(told.note, "holds shop::adder");
}

// A node of the type as a program sees it that has not included bitset.hpp, as other tests do.
TEST(inspect_serializability, a_bitset_needs_the_header_with_its_codec) {
  const detail::type_node of{
      .info = &typeid(std::bitset<3>), .of = detail::shape::unsupported, .hindrance = detail::obstacle::not_described};
  EXPECT_EQ(detail::explain(of).why, "has its codec in a header that is not included");
  EXPECT_EQ(detail::explain(of).advice, "include <troupe/serializers/bitset.hpp> where the type is registered");
}

} // namespace
