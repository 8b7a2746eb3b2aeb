// Goal: what the family json writes for a type fits the type's schema, and what it could not read does not.
// Method: a small validator checks values of every sort, and then each value with one place of it spoilt.
#include <functional>
#include <set>

#include <gtest/gtest.h>

#include "../serializers/rich.hpp"
#include "json_schema_check.hpp"

#include <troupe/framework/gateway/internal/messages/schema.hpp>
#include <troupe/serializers/record.hpp>

namespace troupe::tests {
namespace schema_types {

struct ring {
  std::string name;
  std::shared_ptr<ring> next;
};
TROUPE_DESCRIBE(ring, name, next)

struct animal {
  virtual ~animal() = default;
  std::string name;
};
TROUPE_DESCRIBE(animal, name)
struct cat : animal {
  std::int32_t lives = 9;
};
TROUPE_DESCRIBE_DERIVED(cat, (animal), lives)

struct stall {
  std::vector<std::unique_ptr<animal>> animals;
  std::shared_ptr<animal> first;
};
TROUPE_DESCRIBE(stall, animals, first)

struct mug {
  std::string color;
  std::uint8_t size = 0;
};
TROUPE_DESCRIBE(mug, color, size)

struct shelf {
  mug best;
  std::optional<mug> spare;
  std::map<rich::color, mug> by_color;
  std::multimap<std::string, mug> by_owner;
  std::vector<std::optional<std::optional<mug>>> places;
  record notes;
};
TROUPE_DESCRIBE(shelf, best, spare, by_color, by_owner, places, notes)

struct odd {
  std::vector<std::int8_t> small;
  std::array<std::byte, 3> three{};
  std::array<rich::flags, 2> flags{};
  std::set<std::uint8_t> bytes;
  std::vector<float> reals;
  array<std::byte> image;
  array<float> first;
  array<float> again; // The same memory as `first`.
  std::monostate nothing;
  std::variant<mug, std::string, std::vector<std::uint16_t>> one_of;
  std::tuple<> empty;
  std::map<std::string, std::map<std::string, double>> tables;
  std::chrono::duration<double> took{1.5};
  std::chrono::duration<float, std::ratio<7>> longest{std::numeric_limits<float>::infinity()};
};
TROUPE_DESCRIBE(odd, small, three, flags, bytes, reals, image, first, again, nothing, one_of, empty, tables, took,
                longest)

struct twin {
  std::string color;
  std::uint8_t size = 0;
};
TROUPE_DESCRIBE(twin, color, size)

} // namespace schema_types

namespace {

using namespace schema_types;
using nlohmann::json;
using ordered = nlohmann::ordered_json; // The order of members counts for the family.

class type_schema : public testing::Test {
protected:
  type_schema() {
    rich::add_to(types_);
    types_.add<ring>("test.ring");
    types_.add<animal>("test.animal");
    types_.add<cat>("test.cat");
    types_.add<stall>("test.stall");
    types_.add<mug>("test.mug");
    types_.add<shelf>("test.shelf");
    types_.add<odd>("test.odd");
  }

  [[nodiscard]] json document(std::string_view alias) const { return json::parse(web::json_schema_of(types_, alias)); }
  template <class T>
  [[nodiscard]] ordered written(const T& value) const {
    auto encoded = serialize(value, {.serializers = {"json"}}, types_, families_);
    if (!encoded)
      throw std::runtime_error(encoded.error().message());
    const auto bytes = encoded->frames.front().bytes();
    return ordered::parse(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  }
  /// Whether the family reads this text as a T.
  template <class T>
  [[nodiscard]] bool reads(const ordered& text) const {
    auto encoded = serialize(T{}, {.serializers = {"json"}}, types_, families_);
    const auto bytes = text.dump();
    encoded->frames = {frame::copy_of(std::as_bytes(std::span(bytes)))};
    return deserialize<T>(*encoded, {.deserializers = {"json"}}, types_, families_).has_value();
  }

  [[nodiscard]] static json plain(const ordered& of) { return json::parse(of.dump()); }

  template <class T>
  void expect_fits(std::string_view alias, const T& value) const {
    const auto of = document(alias);
    EXPECT_EQ(misfit_of(plain(written(value)), of, of), "") << alias << ": " << written(value);
  }

  /// All texts that differ from `whole` in one place, and are of another sort there.
  static std::vector<ordered> spoilt(const ordered& whole) {
    static const std::vector<ordered> others{nullptr, true, -1.5, "no", ordered::array({true}), ordered{{"no", 1}}};
    std::vector<ordered> all;
    const auto flat = whole.flatten();
    std::set<std::string> places;
    for (const auto& [place, value] : flat.items())
      for (auto each = place; !each.empty(); each.resize(each.rfind('/')))
        places.insert(each);
    for (const auto& place : places)
      for (const auto& other : others) {
        auto changed = whole;
        auto& at = changed[ordered::json_pointer(place)];
        if (at == other)
          continue;
        at = other;
        all.push_back(std::move(changed));
      }
    return all;
  }

  /// The schema refuses at least that share of what the reader refuses. It cannot see that the lists of an array have
  /// other lengths than its shape, or that a number refers to no object.
  template <class T>
  void expect_agreement(std::string_view alias, const T& value, double share) const {
    const auto of = document(alias);
    std::size_t refused = 0;
    std::size_t missed = 0;
    for (const auto& text : spoilt(written(value))) {
      const bool fits = misfit_of(plain(text), of, of).empty();
      if (reads<T>(text))
        continue;
      ++refused;
      if (fits)
        ++missed;
    }
    EXPECT_GT(refused, 0U);
    EXPECT_LE(static_cast<double>(missed), (1 - share) * static_cast<double>(refused)) << alias << ": " << refused;
  }

  static shelf full_shelf() {
    shelf it;
    it.best = {"red", 3};
    it.spare = mug{"blue", 4};
    it.by_color = {{rich::color::red, {"red", 1}}};
    it.by_owner = {{"me", {"red", 1}}, {"me", {"green", 2}}};
    it.places = {std::nullopt, std::optional<mug>{}, mug{"green", 1}};
    it.notes = record(record::map{{"$old", record(record::list{record(true), record(1.5), record("x")})}});
    return it;
  }
  static odd full_odd() {
    odd it;
    it.small = {-1, 2};
    it.bytes = {1, 2};
    it.reals = {1.5F, std::numeric_limits<float>::infinity()};
    it.image = array<std::byte>::copy_of(std::vector<std::byte>(6), {2, 3});
    it.first = array<float>::copy_of(std::vector<float>{1, 2, 3, 4}, {2, 2});
    it.again = it.first;
    it.one_of = std::vector<std::uint16_t>{1, 2};
    it.tables = {{"a", {{"$x", 1.5}}}};
    return it;
  }

  type_registry types_;
  family_set families_;
};

TEST_F(type_schema, fits_a_value_of_every_sort) {
  expect_fits("everything", rich::full());
  expect_fits("everything", rich::everything{});
  expect_fits("test.shelf", full_shelf());
  expect_fits("test.shelf", shelf{});
  expect_fits("test.odd", full_odd());
  expect_fits("test.odd", odd{});
}

TEST_F(type_schema, fits_types_that_contain_themselves) {
  rich::tree root;
  root.children.resize(2);
  root.children[0].children.resize(1);
  root.children[1].next = std::make_unique<rich::tree>();
  expect_fits("tree", root);
  ring one{"one", std::make_shared<ring>(ring{"two", nullptr})};
  one.next->next = one.next; // A circle.
  expect_fits("test.ring", one);
  one.next->next.reset();
  const auto of = document("tree");
  EXPECT_NE(misfit_of(json::parse(R"({"children":[{"children":[{"value":"deep"}]}]})"), of, of), "");
  EXPECT_NE(misfit_of(json::parse(R"({"next":{"next":{"next":{"children":7}}}})"), of, of), "");
}

TEST_F(type_schema, fits_objects_of_derived_classes) {
  stall it;
  it.animals.push_back(std::make_unique<animal>());
  it.animals.push_back(std::make_unique<cat>());
  it.animals.push_back(nullptr);
  it.first = std::make_shared<cat>();
  expect_fits("test.stall", it);
}

TEST_F(type_schema, refuses_what_the_family_json_refuses) {
  expect_agreement("everything", rich::full(), 0.98);
  expect_agreement("test.shelf", full_shelf(), 1);
  expect_agreement("test.odd", full_odd(), 0.98);
}

TEST_F(type_schema, refers_to_other_types_by_their_places) {
  const auto of = document("test.shelf");
  const auto& schemas = of.at("components").at("schemas");
  const auto mug_reference = json::parse(R"({"$ref":"#/components/schemas/test.mug"})");
  EXPECT_EQ(schemas.at("test.shelf").at("properties").at("best"), mug_reference);
  EXPECT_EQ(schemas.at("test.shelf").at("properties").at("spare").at("anyOf")[0], mug_reference);
  EXPECT_TRUE(schemas.contains("test.mug"));
  EXPECT_FALSE(schemas.contains("test.ring"));
  EXPECT_EQ(document("test.ring").at("components").at("schemas").size(), 2U); // Itself, and texts.
}

TEST_F(type_schema, does_not_guess_between_types_with_the_same_fields) {
  types_.add<twin>("test.twin");
  const auto of = document("test.shelf");
  const auto& schemas = of.at("components").at("schemas");
  EXPECT_FALSE(schemas.contains("test.mug"));
  EXPECT_EQ(schemas.at("test.shelf").at("properties").at("best").at("$ref"), "#/components/schemas/test.shelf.best");
  expect_fits("test.shelf", full_shelf());
}

} // namespace
} // namespace troupe::tests
