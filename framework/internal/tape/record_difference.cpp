#include <troupe/framework/internal/tape/record_difference.hpp>

#include <algorithm>
#include <cstddef>

#include <troupe/base/sizes.hpp>
#include <troupe/framework/internal/words/text.hpp>

namespace troupe::internal {

namespace {

// A decoder bounds how deep records are; deeper parts are compared as wholes.
constexpr std::size_t depth_max = 256;
constexpr std::size_t value_bytes_max = 200;

std::string short_text(const record& of) {
  auto text = one_line(to_text(of));
  if (text.size() > value_bytes_max)
    text = text.substr(0, value_bytes_max) + "...";
  return text;
}

std::string instead(const std::string& path, const record& found, const record& expected) {
  return (path.empty() ? "the value" : path) + ": " + short_text(found) + " instead of " + short_text(expected);
}

std::optional<std::string> compare(const std::string& path, const record& found, const record& expected,
                                   std::size_t depth);

std::optional<std::string> compare_fields(const std::string& path, const record::map& found,
                                          const record::map& expected, const record& found_in, std::size_t depth) {
  for (const auto& [name, value] : expected) {
    const auto at = path + '.' + one_line(name);
    const auto* other = found_in.find(name);
    if (other == nullptr)
      return at + ": missing, instead of " + short_text(value);
    if (auto difference = compare(at, *other, value, depth + 1))
      return difference;
  }
  for (const auto& [name, value] : found)
    if (std::ranges::find(expected, name, &record::map::value_type::first) == expected.end())
      return path + '.' + one_line(name) + ": " + short_text(value) + ", which was not recorded";
  return std::nullopt;
}

std::optional<std::string> compare_elements(const std::string& path, const record::list& found,
                                            const record::list& expected, std::size_t depth) {
  for (std::size_t i = 0; i < std::min(found.size(), expected.size()); ++i)
    if (auto difference = compare(path + '[' + std::to_string(i) + ']', found[i], expected[i], depth + 1))
      return difference;
  if (found.size() != expected.size())
    return (path.empty() ? "the value" : path) + ": " + grouped(found.size()) + " elements instead of "
           + grouped(expected.size());
  return std::nullopt;
}

std::optional<std::string> compare(const std::string& path, const record& found, const record& expected,
                                   std::size_t depth) {
  if (found == expected)
    return std::nullopt;
  if (depth < depth_max && found.fields() != nullptr && expected.fields() != nullptr)
    return compare_fields(path, *found.fields(), *expected.fields(), found, depth);
  if (depth < depth_max && found.elements() != nullptr && expected.elements() != nullptr)
    return compare_elements(path, *found.elements(), *expected.elements(), depth);
  // Families differ in the forms of numbers: 2 and 2.0, lists and arrays.
  if (const auto left = found.real(), right = expected.real(); left && right && *left == *right)
    return std::nullopt;
  if (const auto left = found.as_array<double>(), right = expected.as_array<double>();
      left && right && std::ranges::equal(left->shape(), right->shape())
      && std::ranges::equal(left->contiguous().span(), right->contiguous().span()))
    return std::nullopt;
  return instead(path, found, expected);
}

} // namespace

std::optional<std::string> first_difference(const record& found, const record& expected) {
  return compare({}, found, expected, 0);
}

} // namespace troupe::internal
