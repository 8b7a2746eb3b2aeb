#include <troupe/framework/cluster/internal/watching/arguments.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace troupe::cluster_directories {

namespace {

std::unexpected<directory_error> invalid_argument(std::string text) {
  return std::unexpected{directory_error{directory_errc::invalid_argument, std::move(text)}};
}

std::string shown_key(std::string_view key) {
  return '"' + one_line(key, 64) + '"';
}

std::expected<void, directory_error> check_key(std::string_view key) {
  if (key.empty() || key.size() > directory::key_bytes_max)
    return invalid_argument("the key " + shown_key(key) + " has " + std::to_string(key.size())
                            + " bytes; a key has 1 to " + std::to_string(directory::key_bytes_max));
  return {};
}

std::expected<void, directory_error> check_count(std::string_view what, std::size_t count) {
  if (count > directory::writes_max)
    return invalid_argument("the commit has " + std::to_string(count) + ' ' + std::string{what} + "; at most "
                            + std::to_string(directory::writes_max) + " are possible");
  return {};
}

/// Checks each key alone, and that none is there twice.
template <class Element>
std::expected<void, directory_error> check_keys(std::string_view what, std::span<const Element> elements) {
  std::vector<std::string_view> keys;
  keys.reserve(elements.size());
  for (const auto& element : elements) {
    if (auto good = check_key(element.key); !good)
      return good;
    keys.push_back(element.key);
  }
  std::ranges::sort(keys);
  if (const auto twice = std::ranges::adjacent_find(keys); twice != keys.end())
    return invalid_argument("two " + std::string{what} + " of the commit name the key " + shown_key(*twice)
                            + "; each key may be named once");
  return {};
}

} // namespace

std::expected<void, directory_error> check_prefix(std::string_view prefix) {
  if (prefix.size() > directory::key_bytes_max)
    return invalid_argument("the prefix " + shown_key(prefix) + " has " + std::to_string(prefix.size())
                            + " bytes; a key has at most " + std::to_string(directory::key_bytes_max));
  return {};
}

std::expected<void, directory_error> check_lease_time(std::chrono::milliseconds time,
                                                      std::chrono::milliseconds longest) {
  if (time <= std::chrono::milliseconds::zero() || time > longest)
    return invalid_argument("a lease of " + std::to_string(time.count()) + " ms is not possible; it has 1 to "
                            + std::to_string(longest.count()) + " ms");
  return {};
}

std::expected<void, directory_error> check_commit(std::span<const directory_condition> conditions,
                                                  std::span<const directory_write> writes) {
  if (auto good = check_count("conditions", conditions.size()); !good)
    return good;
  if (auto good = check_count("writes", writes.size()); !good)
    return good;
  if (auto good = check_keys("conditions", conditions); !good)
    return good;
  if (auto good = check_keys("writes", writes); !good)
    return good;
  std::size_t bytes = 0;
  for (const auto& condition : conditions)
    bytes += condition.key.size();
  for (const auto& write : writes) {
    bytes += write.key.size() + write.value.size();
    if (write.value.size() > directory::value_bytes_max)
      return invalid_argument("the value of " + shown_key(write.key) + " has " + std::to_string(write.value.size())
                              + " bytes; at most " + std::to_string(directory::value_bytes_max) + " are possible");
  }
  if (bytes > directory::commit_bytes_max)
    return invalid_argument("the keys and values of the commit have " + std::to_string(bytes) + " bytes; at most "
                            + std::to_string(directory::commit_bytes_max) + " are possible");
  return {};
}

} // namespace troupe::cluster_directories
