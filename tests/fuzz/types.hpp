// The types that fuzzed payloads carry: rich::everything, rich::tree, and types with sorts of members that those lack.
#pragma once

#include <unordered_map>
#include <unordered_set>

#include "late.hpp"

namespace fuzz {

/// May form a circle.
struct ring {
  std::shared_ptr<ring> next;
};
TROUPE_DESCRIBE(ring, next)

/// Has no default constructor; some of its encoded forms are refused.
class celsius {
public:
  explicit celsius(double degrees) : degrees_(degrees) {}
  [[nodiscard]] double degrees() const { return degrees_; }
  auto operator<=>(const celsius&) const = default;

private:
  double degrees_;
};

/// Throws if it is rebuilt from an invalid form.
class fraction {
public:
  fraction(int over, int under) : over_(over), under_(under) {}
  [[nodiscard]] std::tuple<int, int> reduce() const { return {over_, under_}; }
  static fraction rebuild(int over, int under);

private:
  int over_;
  int under_;
};

struct nothing {
  auto operator<=>(const nothing&) const = default;
};
TROUPE_DESCRIBE(nothing)

/// A hash with many collisions, and an equality that counts its calls.
struct weak_hash {
  std::size_t operator()(int value) const { return static_cast<unsigned>(value) % 4; }
};
struct counted_equal {
  static inline std::size_t count = 0;
  bool operator()(int left, int right) const { return ++count, left == right; }
};
using weak_set = std::unordered_set<int, weak_hash, counted_equal>;

/// Values whose forms could be taken for the form of another value.
struct odd {
  std::vector<celsius> weather;
  std::map<int, fraction> shares;
  std::optional<celsius> now;
  std::shared_ptr<fraction> half;
  std::vector<nothing> nothings;
  std::optional<std::shared_ptr<std::string>> maybe_shared;
  std::shared_ptr<std::optional<int>> shared_maybe;
  std::vector<std::shared_ptr<std::vector<int>>> lists;
  std::vector<std::unique_ptr<std::optional<std::string>>> owned;
  std::variant<std::monostate, std::optional<int>, std::vector<std::string>, rich::color, std::shared_ptr<int>> any_of;
  std::map<rich::color, std::optional<std::monostate>> by_color;
  std::multimap<std::string, int> twice;
  std::map<std::pair<int, std::string>, std::map<std::string, bool>> by_pair;
  std::vector<troupe::frame> frames;
  std::vector<troupe::array<float>> grids;
  troupe::array<std::uint8_t> picture;
  std::array<std::byte, 4> four{};
  char letters[3] = {};
  std::chrono::duration<double> seconds{};
  troupe::writable_array<std::int16_t> filled; // Owns elements that the sender repeats.
  std::vector<std::shared_ptr<ring>> rings;    // May be a long chain at a small depth.
  weak_set weak;
  std::unordered_multimap<int, bool, weak_hash, counted_equal> weak_twice;
};
TROUPE_DESCRIBE(odd, weather, shares, now, half, nothings, maybe_shared, shared_maybe, lists, owned, any_of, by_color,
                twice, by_pair, frames, grids, picture, four, letters, seconds, filled, rings, weak, weak_twice)

/// A value with something in every member.
odd full_odd();

/// Has a codec of its own: the name as the header's extra bytes, the pictures as frames.
struct album {
  std::string name;
  std::vector<troupe::frame> pictures;
};

/// All of these types, besides those of every registry.
const troupe::type_registry& types();

} // namespace fuzz

template <>
struct troupe::codec<fuzz::celsius> {
  using form = double;
  static std::expected<form, serialize_error> reduce(const fuzz::celsius& value, const context&) {
    return value.degrees();
  }
  static std::expected<fuzz::celsius, serialize_error> rebuild(form&& degrees, const context&) {
    if (!(degrees >= -273.15))
      return std::unexpected(serialize_error(serialize_errc::malformed, "colder than anything"));
    return fuzz::celsius(degrees);
  }
};
