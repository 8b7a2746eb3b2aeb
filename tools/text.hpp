// What the commands say to people: columns, ages.
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

/// Objects that have something in common.
struct object_group {
  std::string of;
  std::size_t objects = 0;
  std::size_t bytes = 0;
};

/// Columns as wide as what is in them, each cell in_line(); '>' in `sides`: to the right. Requires: lines of as many
/// columns.
[[nodiscard]] std::string table(std::vector<std::vector<std::string>> lines, const std::string& sides);

/// The same without what a terminal would obey: peers choose their names. What is no UTF-8, or turns the direction of
/// writing, is shown as '?'. Line feeds stay.
[[nodiscard]] std::string printable(std::string text);

/// The same on one line of so many characters at most, with "..." for the rest.
[[nodiscard]] std::string in_line(const std::string& text, std::size_t characters_max = 120);

/// The same of a reason, which says at its end what to do: up to 1,000 characters.
[[nodiscard]] std::string reason_in_line(const std::string& text);

/// "1 object", "2,000 objects".
[[nodiscard]] std::string several(std::uint64_t count, std::string_view what);

/// "3.2 s", "5 min", "2 h".
[[nodiscard]] std::string text_of(std::chrono::nanoseconds age);

/// The same, which may be not known: less than 0, then nothing is said.
[[nodiscard]] std::string text_of_age(std::int64_t milliseconds);

/// Of objects with `size_bytes`, by all names that `names_of` gives each; those with the most bytes first.
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

/// Each ends with a line feed.
[[nodiscard]] std::string text_of(const std::vector<object_group>& groups);
[[nodiscard]] std::string json_of(const std::vector<object_group>& groups);

} // namespace troupe::tools
