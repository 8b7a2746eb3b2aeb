// The questions that readers and writers ask about types.
#include <array>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include <troupe/serializers/extend/family_library.hpp>
#include <troupe/serializers/internal/shape/type_answers.hpp>
#include <troupe/serializers/serialize.hpp>
#include <troupe/serializers/serialized.hpp>

namespace {

using namespace troupe;
using detail::copyable;
using detail::fixed_bytes;
using detail::least_bytes;
using detail::may_begin_filled;
using detail::nullable;
using detail::run_bytes;
using detail::self_contained;
using detail::text_keyed;

using owners = std::vector<std::unique_ptr<int>>;

struct point {
  int x = 0;
  double y = 0;
};
TROUPE_DESCRIBE(point, x, y)

struct grid {
  int cells[3] = {};
  std::vector<grid> inner;
};
TROUPE_DESCRIBE(grid, cells, inner)

struct owning {
  std::variant<int, owners> either;
};
TROUPE_DESCRIBE(owning, either)

// Containers claim to be copyable, whatever they hold. So do variants and arrays of such containers.
static_assert(copyable<grid>());
static_assert(copyable<std::map<std::string, std::variant<int, std::vector<point>>>>());
static_assert(!copyable<owners>());
static_assert(!copyable<std::variant<int, owners>>());
static_assert(!copyable<std::array<owners, 2>>());
static_assert(!copyable<std::optional<std::array<owners, 2>>>());
static_assert(!copyable<owning>());

static_assert(fixed_bytes<point>() == 12);
static_assert(fixed_bytes<std::tuple<point, std::array<std::uint16_t, 3>>>() == 18);
static_assert(fixed_bytes<grid>() == 0);
static_assert(run_bytes<grid, 0>() == 12 && run_bytes<grid, 1>() == 0);

static_assert(least_bytes<owning>() == 1 && least_bytes<point>() == 12);
static_assert(least_bytes<std::tuple<point, std::string>>() == 0);
static_assert(least_bytes<frame>() == 0 && least_bytes<std::vector<point>>() == 1);

static_assert(nullable<std::optional<int>>() && nullable<std::monostate>() && !nullable<std::string>());
static_assert(text_keyed<std::map<std::string, int>>() && !text_keyed<std::multimap<std::string, int>>());

static_assert(self_contained<grid>() && self_contained<std::deque<std::variant<int, frame>>>());
static_assert(!self_contained<std::array<std::optional<std::shared_ptr<int>>, 2>>());

static_assert(may_begin_filled<std::pair<const int, point>>() == false);
static_assert(may_begin_filled<std::pair<const int, grid>>());

// Goal: a type that can be moved but not copied travels, wherever in it the reason lies.
// Method: the values have types that claim to be copyable but are not. Each family that carries them is tested.
template <class T>
void expect_moved(T value, const auto& check) {
  type_registry types;
  types.add<T>("moved");
  const family_set families;
  ASSERT_EQ(types.find<T>()->life().copy, nullptr);
  for (const auto* family : {"typed", "msgpack", "json"}) {
    const auto payload =
        serialize(value, {.serializers = {family}, .on_error = on_error::raise, .context = {}}, types, families);
    ASSERT_TRUE(payload) << payload.error().message();
    auto back = deserialize<T>(*payload, {.deserializers = {family}, .context = {}}, types, families);
    ASSERT_TRUE(back) << back.error().message();
    check(*back);
    const serialized kept(*payload);
    auto got = kept.get<T>({.deserializers = {family}, .context = {}}, types, families);
    ASSERT_TRUE(got) << got.error().message();
    check(*got);
  }
}

owners owners_of(int value) {
  owners made;
  made.push_back(std::make_unique<int>(value));
  return made;
}

TEST(type_answers, a_variant_of_what_cannot_be_copied_travels) {
  expect_moved<std::variant<int, owners>>(owners_of(5),
                                          [](const auto& back) { EXPECT_EQ(*std::get<owners>(back)[0], 5); });
}

TEST(type_answers, an_array_of_what_cannot_be_copied_travels) {
  std::array<owners, 2> value{owners_of(5), owners_of(6)};
  expect_moved(std::move(value), [](const auto& back) { EXPECT_EQ(*back[1][0], 6); });
}

TEST(type_answers, a_class_of_what_cannot_be_copied_travels) {
  expect_moved(owning{owners_of(7)}, [](const auto& back) { EXPECT_EQ(*std::get<owners>(back.either)[0], 7); });
}

} // namespace
