// Tests which values may be handed over in-process without encoding, and the bytes that they take.
#include <list>
#include <map>
#include <memory>

#include <gtest/gtest.h>

#include <troupe/serializers/type_registry.hpp>

namespace {

using namespace troupe;

struct inner {
  std::string name;
  std::vector<double> numbers;
};
TROUPE_DESCRIBE(inner, name, numbers)

struct tree {
  std::string label;
  std::vector<tree> branches;
};
TROUPE_DESCRIBE(tree, label, branches)

struct pointing {
  inner part;
  std::shared_ptr<int> shared;
};
TROUPE_DESCRIBE(pointing, part, shared)

/// Stands for a handle whose meaning depends on the process.
struct ticket {
  int number = 0;
};
struct holder {
  std::map<std::string, std::vector<ticket>> tickets;
};
TROUPE_DESCRIBE(holder, tickets)

struct celsius {
  double degrees = 0;
};

} // namespace

template <>
struct troupe::codec<ticket> {
  using form = int;
  static std::expected<form, serialize_error> reduce(const ticket& from, const context&) { return from.number; }
  static std::expected<ticket, serialize_error> rebuild(form&& from, const context&) { return ticket{from}; }
};

template <>
struct troupe::codec<celsius> {
  using form = double;
  static constexpr bool is_self_contained = true;
  static std::expected<form, serialize_error> reduce(const celsius& from, const context&) { return from.degrees; }
  static std::expected<celsius, serialize_error> rebuild(form&& from, const context&) { return celsius{from}; }
};

namespace {

template <class T>
bool is_self_contained() {
  type_registry types;
  if (types.find<T>() == nullptr)
    types.add<T>("test.type");
  return types.find<T>()->is_self_contained();
}

template <class T>
std::size_t held_by(const T& value) {
  type_registry types;
  if (types.find<T>() == nullptr)
    types.add<T>("test.type");
  return types.find<T>()->memory_bytes(&value) - sizeof(T);
}

TEST(self_contained, is_what_holds_values_only) {
  EXPECT_TRUE((is_self_contained<std::map<std::string, std::optional<inner>>>()));
  EXPECT_TRUE((is_self_contained<std::tuple<int, std::variant<inner, std::string>>>()));
  EXPECT_TRUE(is_self_contained<array<double>>());
  EXPECT_TRUE(is_self_contained<tree>());
}

TEST(self_contained, is_not_what_points_or_has_a_codec) {
  EXPECT_FALSE(is_self_contained<pointing>());
  EXPECT_FALSE(is_self_contained<ticket>());
  EXPECT_FALSE(is_self_contained<holder>());
  EXPECT_FALSE((is_self_contained<std::variant<int, std::vector<ticket>>>()));
}

TEST(self_contained, may_be_said_by_a_codec) {
  EXPECT_TRUE(is_self_contained<celsius>());
  EXPECT_TRUE((is_self_contained<std::vector<celsius>>()));
}

TEST(self_contained, values_of_an_own_codec_are_not) {
  type_registry types;
  types.add<inner>(
      "test.inner", [](const inner&, const context&) -> std::expected<own_form, serialize_error> { return own_form{}; },
      [](auto, auto, const context&) -> std::expected<inner, serialize_error> { return inner{}; });
  EXPECT_FALSE(types.find<inner>()->is_self_contained());
}

TEST(self_contained, values_take_what_their_elements_take) {
  EXPECT_EQ(held_by(7.5), 0u);
  EXPECT_EQ(held_by(std::string(1000, 'x')), 1000u);
  EXPECT_EQ(held_by(std::vector<double>(100)), 800u);
  EXPECT_EQ(held_by(inner{.name = "four", .numbers = std::vector<double>(10)}), 84u);
  EXPECT_EQ(held_by(std::list<std::string>{"one", "two"}),
            2 * detail::malloc_bytes(sizeof(std::string) + detail::held_node_bytes) + 6);
  EXPECT_EQ(held_by(std::array<std::string, 2>{"one", "two"}), 6u);
  EXPECT_EQ(held_by(std::optional<std::string>{"four"}), 4u);
  EXPECT_EQ(held_by(std::optional<std::string>{}), 0u);
  EXPECT_EQ(held_by(std::variant<int, std::string>{"four"}), 4u);
  EXPECT_EQ(held_by(tree{.label = "a", .branches = {tree{.label = "bc"}, tree{}}}), 2 * sizeof(tree) + 3);
}

} // namespace
