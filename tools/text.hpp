// Text output shared by the commands: tables, ages, printable text.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace troupe::tools {

/// Objects that share a property, such as their creator.
struct object_group {
  std::string of;
  std::size_t objects = 0;
  std::size_t bytes = 0;
};

/// A table whose columns are as wide as their longest cell. in_line() shortens each cell. A '>' in `sides` aligns its
/// column to the right. Requires: `lines` is not empty, all lines have the same number of columns,
/// and `sides` has as many characters.
[[nodiscard]] std::string table(std::vector<std::vector<std::string>> lines, const std::string& sides);

/// Replaces control characters, invalid UTF-8 and characters that change the writing direction by '?'. Peers choose
/// their own names, so texts may contain them. Line feeds stay.
[[nodiscard]] std::string printable(std::string text);

/// Printable text on one line of at most `characters_max` characters; "..." replaces the rest.
[[nodiscard]] std::string in_line(const std::string& text, std::size_t characters_max = 120);

/// Like in_line(), but up to 1,000 characters, because an error text ends with advice.
[[nodiscard]] std::string reason_in_line(const std::string& text);

/// "1 object", "2,000 objects".
[[nodiscard]] std::string several(std::uint64_t count, std::string_view what);

/// "3.2 s", "5 min", "2 h".
[[nodiscard]] std::string text_of(std::chrono::nanoseconds age);

/// The age. Empty if it is less than 0, which means unknown.
[[nodiscard]] std::string text_of_age(std::int64_t milliseconds);

/// Groups objects by all names that `names_of` returns for each. The group with the most bytes comes first. Requires:
/// an object has a `size_bytes`.
template <class Objects, class NamesOf>
[[nodiscard]] std::vector<object_group> grouped_by(const Objects& objects, NamesOf names_of) {
  std::map<std::string, object_group> groups;
  for (const auto& object : objects)
    for (const auto& name : names_of(object)) {
      auto& group = groups[name];
      group.of = name;
      ++group.objects;
      group.bytes += object.size_bytes;
    }
  std::vector<object_group> result;
  for (auto& [name, group] : groups)
    result.push_back(std::move(group));
  std::ranges::stable_sort(result, std::ranges::greater{}, &object_group::bytes);
  return result;
}

/// The groups as lines. Ends with a line feed.
[[nodiscard]] std::string text_of(const std::vector<object_group>& groups);
/// The groups as JSON. Ends with a line feed.
[[nodiscard]] std::string json_of(const std::vector<object_group>& groups);

} // namespace troupe::tools
