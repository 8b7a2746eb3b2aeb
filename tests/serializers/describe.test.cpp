// The code that TROUPE_DESCRIBE generates, and the errors that it gives at compile time.
#include <atomic>
#include <mutex>

#include <gtest/gtest.h>

#include "rich.hpp"

namespace {

using namespace troupe;

struct with_optional {
  int first = 0;
  std::optional<int> second;
  std::string third;
};

struct with_array {
  int values[3];
  std::string name;
};

// The macro's check, called here without a compile error.
static_assert(!detail::forgets_a_field<rich::point, &rich::point::x, &rich::point::y>());
static_assert(detail::forgets_a_field<rich::point, &rich::point::x>());
static_assert(detail::forgets_a_field<rich::point>());
static_assert(detail::forgets_a_field<with_optional, &with_optional::first, &with_optional::third>());
static_assert(detail::forgets_a_field<with_optional, &with_optional::first, &with_optional::second>());
static_assert(detail::forgets_a_field<with_optional, &with_optional::first>());
static_assert(
    !detail::forgets_a_field<with_optional, &with_optional::first, &with_optional::second, &with_optional::third>());
static_assert(detail::forgets_a_field<with_array, &with_array::values>());
static_assert(!detail::forgets_a_field<with_array, &with_array::values, &with_array::name>());

struct undescribed_circle : rich::circle {};
static_assert(described<rich::circle>);
static_assert(!described<undescribed_circle>, "a description must not be inherited: the new fields would be lost");
static_assert(described_enum<rich::color> && !described_enum<rich::flags>);

struct more_than_a_hundred {
#define TROUPE_TEST_TEN(a) int a##0, a##1, a##2, a##3, a##4, a##5, a##6, a##7, a##8, a##9;
  TROUPE_TEST_TEN(a)
  TROUPE_TEST_TEN(b)
  TROUPE_TEST_TEN(c)
  TROUPE_TEST_TEN(d)
  TROUPE_TEST_TEN(e)
  TROUPE_TEST_TEN(f)
  TROUPE_TEST_TEN(g)
  TROUPE_TEST_TEN(h)
  TROUPE_TEST_TEN(i)
  TROUPE_TEST_TEN(j)
  TROUPE_TEST_TEN(k)
  TROUPE_TEST_TEN(l)
};
#define TROUPE_TEST_NAMES(a) a##0, a##1, a##2, a##3, a##4, a##5, a##6, a##7, a##8, a##9
TROUPE_DESCRIBE(more_than_a_hundred, TROUPE_TEST_NAMES(a), TROUPE_TEST_NAMES(b), TROUPE_TEST_NAMES(c),
                TROUPE_TEST_NAMES(d), TROUPE_TEST_NAMES(e), TROUPE_TEST_NAMES(f), TROUPE_TEST_NAMES(g),
                TROUPE_TEST_NAMES(h), TROUPE_TEST_NAMES(i), TROUPE_TEST_NAMES(j), TROUPE_TEST_NAMES(k),
                TROUPE_TEST_NAMES(l))
static_assert(fields_of<more_than_a_hundred>::count == 120);
static_assert(fields_of<more_than_a_hundred>::names[119] == "l9");

struct locked {
  std::mutex guard;
};
TROUPE_DESCRIBE(locked, guard)

struct holds_locked {
  std::map<std::string, std::list<locked>> rooms;
};
TROUPE_DESCRIBE(holds_locked, rooms)

struct holds_unmovable {
  std::vector<locked> list;
  std::map<int, locked> map;
  std::optional<locked> maybe;
  std::variant<int, locked> either;
};
TROUPE_DESCRIBE(holds_unmovable, list, map, maybe, either)

// An omitted field is noticed, whatever its type, and nothing else counts as omitted.
struct moved_only {
  int number;
  std::unique_ptr<int> owned;
};
struct unmovable {
  std::mutex guard;
  moved_only inner;
  std::atomic<int> count;
  std::unique_ptr<int> several[2];
  std::vector<moved_only> list;
};
static_assert(!detail::forgets_a_field<moved_only, &moved_only::number, &moved_only::owned>());
static_assert(detail::forgets_a_field<moved_only, &moved_only::number>());
static_assert(detail::forgets_a_field<moved_only, &moved_only::owned>());
static_assert(!detail::forgets_a_field<unmovable, &unmovable::guard, &unmovable::inner, &unmovable::count,
                                       &unmovable::several, &unmovable::list>());
static_assert(
    detail::forgets_a_field<unmovable, &unmovable::inner, &unmovable::count, &unmovable::several, &unmovable::list>());
static_assert(
    detail::forgets_a_field<unmovable, &unmovable::guard, &unmovable::inner, &unmovable::several, &unmovable::list>());
static_assert(
    detail::forgets_a_field<unmovable, &unmovable::guard, &unmovable::inner, &unmovable::count, &unmovable::list>());
static_assert(
    detail::forgets_a_field<unmovable, &unmovable::guard, &unmovable::inner, &unmovable::count, &unmovable::several>());

TEST(describe, puts_the_fields_of_bases_first) {
  EXPECT_EQ(fields_of<rich::circle>::count, 2U);
  EXPECT_EQ(fields_of<rich::circle>::names[0], "label");
  EXPECT_EQ(fields_of<rich::circle>::names[1], "radius");
  EXPECT_EQ(spelled_name<rich::circle>, "circle");
}

TEST(describe, carries_more_than_a_hundred_fields) {
  type_registry types;
  types.add<more_than_a_hundred>("many");
  const family_set families;
  more_than_a_hundred sent{};
  sent.a0 = 1;
  sent.l9 = 120;
  const auto made = serialize(sent, {}, types, families);
  ASSERT_TRUE(made.has_value());
  const auto back = deserialize<more_than_a_hundred>(*made, {}, types, families);
  ASSERT_TRUE(back.has_value()) << back.error().message();
  EXPECT_EQ(back->a0, 1);
  EXPECT_EQ(back->l9, 120);
}

TEST(describe, takes_types_that_hold_what_cannot_move_and_says_why_they_stay) {
  type_registry types;
  types.add<holds_unmovable>("unmovable");
  EXPECT_EQ(types.find("unmovable")->unsupported(),
            ".list[].guard: std::mutex has neither TROUPE_DESCRIBE, nor a "
            "codec<T>, nor reduce() and rebuild(), nor a codec in the registry");
}

TEST(describe, names_the_path_to_a_member_that_cannot_travel) {
  type_registry types;
  types.add<holds_locked>("rooms");
  EXPECT_EQ(types.find("rooms")->unsupported(),
            ".rooms{}[].guard: std::mutex has neither TROUPE_DESCRIBE, nor a codec<T>, "
            "nor reduce() and rebuild(), nor a codec in the registry");
}

} // namespace
