// Every option that a configuration file can set: its key, the member it is read into, its range and its meaning.
// framework/options.md says what each costs; a test compares the two.
#pragma once

#include <expected>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <troupe/framework/internal/config/config_types.hpp>
#include <troupe/framework/options.hpp>
#include <troupe/framework/reconnect_policy.hpp>

namespace troupe::internal {

/// What stands below `troupe.links.default`, `troupe.links.accepted` or `troupe.links."<address>"`.
struct link_entry {
  link_options options = {};
  reconnect_policy policy = {};
};

/// What stands below `troupe.node`.
struct node_entry {
  node_options options = {};
  store::options store = {};
  bool has_store = true;
};

template <class Entry>
struct option_row {
  std::string_view key; // Below the entry, with dots: "credentials.tls.key-file".
  std::string_view meaning;
  option_range range;
  assigned (*assign)(const config_value& from, const option_range& range, Entry& to);
  std::string (*show)(const Entry& from); // As a configuration file would have it.
};

[[nodiscard]] std::span<const option_row<link_entry>> link_rows();
[[nodiscard]] std::span<const option_row<node_entry>> node_rows();

/// The row of that key; null for none.
template <class Entry>
[[nodiscard]] const option_row<Entry>* find_row(std::span<const option_row<Entry>> rows, std::string_view key) {
  for (const auto& row : rows)
    if (row.key == key)
      return &row;
  return nullptr;
}

/// What may stand directly in `group` ("" for the entry itself, "credentials.tls"): options, and groups with what is in
/// them. Empty where there is no such group.
template <class Entry>
[[nodiscard]] std::vector<std::string_view> keys_in(std::span<const option_row<Entry>> rows, std::string_view group) {
  std::vector<std::string_view> keys;
  for (const auto& row : rows) {
    auto key = row.key;
    if (!group.empty()) {
      if (!key.starts_with(group) || key.size() <= group.size() || key[group.size()] != '.')
        continue;
      key.remove_prefix(group.size() + 1);
    }
    key = key.substr(0, key.find('.'));
    if (keys.empty() || keys.back() != key) // What is in one group stands together.
      keys.push_back(key);
  }
  return keys;
}

} // namespace troupe::internal
