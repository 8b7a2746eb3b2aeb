// A type with one member of every sort that travels, for tests that need all of them at once.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include <troupe/serializers/serialize.hpp>

namespace rich {

enum class color : std::uint8_t { red = 1, green = 2, blue = 7 };
TROUPE_DESCRIBE_ENUM(color, red, green, blue)

enum class flags : std::uint16_t {}; // Not described: a number.

struct point {
  std::int32_t x = 0;
  double y = 0;
  bool operator==(const point&) const = default;
};
TROUPE_DESCRIBE(point, x, y)

struct leaf {
  std::string name;
  bool operator==(const leaf&) const = default;
};
TROUPE_DESCRIBE(leaf, name)

struct tree {
  int value = 0;
  std::vector<tree> children;
  std::unique_ptr<tree> next;
  bool operator==(const tree& other) const {
    return value == other.value && children == other.children && !next == !other.next
           && (!next || *next == *other.next);
  }
};
TROUPE_DESCRIBE(tree, value, children, next)

class account {
public:
  account() = default;
  account(std::string owner, std::int64_t cents) : owner_(std::move(owner)), cents_(cents) {}
  bool operator==(const account&) const = default;
  TROUPE_DESCRIBE_INSIDE(account, owner_, cents_)

private:
  std::string owner_;
  std::int64_t cents_ = 0;
};

struct shape {
  std::string label;
  bool operator==(const shape&) const = default;
};
TROUPE_DESCRIBE(shape, label)

struct circle : shape {
  double radius = 0;
  bool operator==(const circle&) const = default;
};
TROUPE_DESCRIBE_DERIVED(circle, (shape), radius)

struct everything {
  bool yes = false;
  char letter = 'a';
  std::byte raw{};
  std::int8_t i8 = 0;
  std::uint16_t u16 = 0;
  std::int64_t i64 = 0;
  std::uint64_t u64 = 0;
  float f32 = 0;
  double f64 = 0;
  color paint = color::red;
  flags bits{};
  std::string text;
  std::filesystem::path where;
  std::chrono::milliseconds wait{};
  std::chrono::system_clock::time_point when;
  std::optional<int> maybe;
  std::optional<std::optional<int>> perhaps;
  std::pair<int, std::string> two;
  std::tuple<bool, point, std::string> three;
  std::variant<std::monostate, int, std::string, point> one_of;
  std::array<int, 3> fixed{};
  std::array<std::string, 2> names;
  int built_in[2] = {};
  std::vector<double> numbers;
  std::vector<std::byte> bytes;
  std::vector<bool> switches;
  std::vector<std::string> strings;
  std::list<point> points;
  std::deque<int> queue;
  std::set<std::string> words;
  std::unordered_set<int> seen;
  std::multiset<int> dice;
  std::map<std::string, std::vector<int>> index;
  std::map<int, color> paints;
  std::unordered_map<std::string, double> prices;
  std::unique_ptr<leaf> owned;
  std::shared_ptr<leaf> left;
  std::shared_ptr<leaf> right; // The same object as left.
  std::weak_ptr<leaf> watched; // The same object as well.
  tree root;
  account money;
  circle round;
  troupe::array<double> grid;
  troupe::frame blob;
};
TROUPE_DESCRIBE(everything, yes, letter, raw, i8, u16, i64, u64, f32, f64, paint, bits, text, where, wait, when, maybe,
                perhaps, two, three, one_of, fixed, names, built_in, numbers, bytes, switches, strings, points, queue,
                words, seen, dice, index, paints, prices, owned, left, right, watched, root, money, round, grid, blob)

inline troupe::frame frame_of(std::string_view text) {
  return troupe::frame::copy_of(std::as_bytes(std::span(text)));
}

inline std::string text_of(const troupe::frame& of) {
  return {reinterpret_cast<const char*>(of.bytes().data()), of.size_bytes()};
}

everything full();

/// Empty if both are equal, else the first member that differs.
std::string difference(const everything& a, const everything& b);

/// Registers `everything` and `tree`, also for the family cereal. Not a template, so that only one file compiles them.
void add_to(troupe::type_registry& types);

} // namespace rich
