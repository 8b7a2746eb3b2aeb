// Every option that a configuration file can set: its key, its member, its range and its meaning. framework/options.md
// has the cost of each. A test compares the two.
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

/// The options of `troupe.links.default`, `troupe.links.accepted` or `troupe.links."<address>"`.
struct link_entry {
  link_options options = {};
  reconnect_policy policy = {};
};

/// The options of `troupe.node`.
struct node_entry {
  node_options options = {};
  store::options store = {};
  bool has_store = true;
};

template <class Entry>
struct option_row {
  std::string_view key; // Relative to the entry, with dots: "credentials.tls.key-file".
  std::string_view meaning;
  option_range range;
  assigned (*assign)(const config_value& from, const option_range& range, Entry& to);
  std::string (*show)(const Entry& from); // As in a configuration file.
};

[[nodiscard]] std::span<const option_row<link_entry>> link_rows();
/// Those of `troupe.links.accepted.roles.<name>`.
[[nodiscard]] std::span<const option_row<peer_role>> role_rows();
[[nodiscard]] std::span<const option_row<node_entry>> node_rows();

/// Returns the row of that key, or null.
template <class Entry>
[[nodiscard]] const option_row<Entry>* find_row(std::span<const option_row<Entry>> rows, std::string_view key) {
  for (const auto& row : rows)
    if (row.key == key)
      return &row;
  return nullptr;
}

/// The keys that are allowed directly in `group`: options and groups. `group` is "" for the entry itself, or for
/// example "credentials.tls". Empty if there is no such group.
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
    if (keys.empty() || keys.back() != key) // The keys of one group are adjacent.
      keys.push_back(key);
  }
  return keys;
}

} // namespace troupe::internal
