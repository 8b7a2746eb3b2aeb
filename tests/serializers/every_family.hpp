// Shared by the conformance tests: a row per family, and a fixture that encodes and decodes with that family.
#pragma once

#include <gtest/gtest.h>

#include <troupe/serializers/cereal/cereal_type.hpp>

#include "allocated_bytes.hpp"
#include "rich.hpp"

namespace conformance {

using namespace troupe;

/// A family, and the differences on which tests depend.
struct row {
  const char* name;
  bool attaches_frames = true;   // Otherwise their bytes lie in the body.
  bool counts_ahead = true;      // A list's length precedes its first element.
  bool names_fields = true;      // Versions of a type are told apart and read; otherwise they are refused.
  bool names_enumerators = true; // Enums travel by name or are checked by it.
  bool names_elements = true;    // An error's place has the index of the element.
  bool names_classes = true;     // A pointer to a base leads to its derived class, by alias.
};

/// A structure that the attacks aim at.
struct wanted {
  int kept = 3;
  std::vector<std::string> names;
};
TROUPE_DESCRIBE(wanted, kept, names)

inline void PrintTo(const row& of, std::ostream* to) {
  *to << of.name;
}

inline constexpr row all_families[] = {
    {.name = "typed"},
    {.name = "msgpack"},
    {.name = "json", .attaches_frames = false, .counts_ahead = false},
    {.name = "lines", .attaches_frames = false}, // From samples/own_family, loaded from a shared library.
    {.name = "cereal",
     .names_fields = false,
     .names_enumerators = false,
     .names_elements = false,
     .names_classes = false},
};

inline std::string name_of_row(const testing::TestParamInfo<row>& of) {
  return of.param.name;
}

/// Adds the families of the rows that a new set does not have.
inline void add_families(family_set& to) {
  to.add(std::make_unique<cereal_family>());
  const auto loaded = to.load(TROUPE_LIBRARY_FOLDER "/lines.so");
  EXPECT_TRUE(loaded.has_value()) << loaded.error().message();
}

class every_family : public testing::TestWithParam<row> {
protected:
  every_family() { add_families(families); }

  template <class T>
  std::expected<payload, serialize_error> made_of(const T& value, const context& with) {
    return serialize(value, {.serializers = {GetParam().name}, .on_error = on_error::raise, .context = with}, types,
                     families);
  }

  template <class T>
  payload encoded(const T& value) {
    auto made = made_of(value, ctx);
    EXPECT_TRUE(made.has_value()) << (made ? "" : made.error().message());
    return made.value_or(payload{});
  }

  template <class T>
  std::expected<T, serialize_error> decoded(const payload& from) {
    return deserialize<T>(from, {.deserializers = {GetParam().name}, .context = ctx}, types, families);
  }

  template <class T>
  void expect_back(const T& value) {
    auto back = decoded<T>(encoded(value));
    ASSERT_TRUE(back.has_value()) << back.error().message();
    EXPECT_TRUE(*back == value);
  }

  template <class T>
  serialize_errc code_of(const payload& from) {
    auto back = decoded<T>(from);
    return back ? serialize_errc::none : back.error().code();
  }

  /// The reason why decoding fails, or empty if it succeeds.
  template <class T>
  std::string failure_of(const payload& from) {
    auto back = decoded<T>(from);
    return back ? "" : back.error().message();
  }

  /// A message with this family's name before it.
  static std::string said(const std::string& text) { return std::string(GetParam().name) + ": " + text; }

  /// The same payload with another body.
  static payload with_body(payload from, std::vector<std::byte> body) {
    from.frames[0] = frame::adopt(std::move(body));
    return from;
  }

  static std::vector<std::byte> body_of(const payload& of) {
    return {of.frames[0].bytes().begin(), of.frames[0].bytes().end()};
  }

  type_registry types;
  family_set families;
  context ctx;
};

} // namespace conformance
