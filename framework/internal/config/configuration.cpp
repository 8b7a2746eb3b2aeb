#include <troupe/framework/internal/config/configuration.hpp>

#include <algorithm>
#include <array>
#include <cassert>
#include <map>
#include <utility>

#include <troupe/framework/internal/config/near_name.hpp>
#include <troupe/framework/internal/net/address.hpp>
#include <troupe/framework/internal/words/text.hpp>

namespace troupe::internal {

namespace {

using shape = config_value::shape;
using path = std::vector<std::string>;

std::unexpected<node_error> fail_at(const config_place& where, const std::string& why) {
  return std::unexpected{node_error{node_errc::bad_option, where.text() + ": " + why}};
}

/// Joins the parts from `first` on, for example "credentials.tls".
std::string joined(const path& parts, std::size_t first) {
  std::string text;
  for (auto i = first; i < parts.size(); ++i)
    text += (i > first ? "." : "") + parts[i];
  return text;
}

/// Checks an item whose first `first` parts name its entry; the others name a group or an option of the entry.
/// `more`: a group that the entry has besides those of `rows`; may be empty.
template <class Entry>
std::expected<void, node_error> check_item(const config_item& item, std::size_t first,
                                           std::span<const option_row<Entry>> rows, std::string_view more = {}) {
  const auto& parts = item.path;
  std::string group;
  for (auto i = first; i < parts.size(); ++i) {
    auto known = keys_in(rows, group);
    if (group.empty() && !more.empty())
      known.push_back(more);
    if (std::ranges::find(known, std::string_view{parts[i]}) == known.end()) {
      path inside{parts.begin(), parts.begin() + static_cast<std::ptrdiff_t>(i)};
      return known.empty() ? fail_at(item.place, dotted(inside) + " is an option, not a group: it has no keys")
                           : fail_at(item.place, dotted(inside) + " has no \"" + one_line(cut(parts[i])) + '"'
                                                     + did_you_mean(parts[i], known));
    }
    group += (group.empty() ? "" : ".") + parts[i];
  }
  const auto* row = find_row(rows, group);
  if (row == nullptr) {
    if (item.value.form == shape::group)
      return {};
    std::string known;
    for (auto key : keys_in(rows, group))
      known += (known.empty() ? "" : ", ") + std::string{key};
    return fail_at(item.place,
                   dotted(parts) + " is a group: write " + dotted(parts) + " { ... }; known in it: " + known);
  }
  Entry scratch;
  if (auto fits = row->assign(item.value, row->range, scratch); !fits)
    return fail_at(item.place, dotted(parts) + ' ' + fits.error());
  return {};
}

/// Checks an item below troupe.links.accepted.roles: the name of a role, and the key in it.
std::expected<void, node_error> check_role_item(const config_item& item) {
  const auto is_inside = item.path.size() > 4;
  if (item.path[1] != configuration::accepted_entry)
    return fail_at(item.place, dotted(item.path)
                                   + ": roles are for the peers that dial this node: set them in "
                                     "troupe.links.accepted");
  if (is_inside)
    return check_item(item, 4, role_rows());
  if (item.value.form != shape::group)
    return fail_at(item.place, dotted(item.path) + " is a group: write roles { worker { ... } }");
  return {};
}

/// Checks an item below troupe.links: the name of an entry, and the key in it.
std::expected<void, node_error> check_link_item(const config_item& item) {
  const auto& name = item.path[1];
  if (name != configuration::default_entry && name != configuration::accepted_entry) {
    if (name.find("://") == std::string::npos) {
      constexpr std::array<std::string_view, 2> known{configuration::default_entry, configuration::accepted_entry};
      return fail_at(item.place, "troupe.links has no \"" + one_line(cut(name)) + '"' + did_you_mean(name, known)
                                     + ", or a peer's address in double quotes");
    }
    if (auto at = parse_address(name); !at)
      return fail_at(item.place, one_line(at.error().message()));
  }
  if (item.path.size() > 2 && item.path[2] == configuration::roles_group)
    return check_role_item(item);
  return check_item(item, 2, link_rows(), name == configuration::accepted_entry ? configuration::roles_group : "");
}

std::expected<void, node_error> check_node_item(const config_item& item) {
  auto checked = check_item(item, 1, node_rows());
  if (checked && item.path.back() == "listen")
    for (const auto& element : item.value.elements)
      if (auto at = parse_address(element.text); !at)
        return fail_at(item.place, dotted(item.path) + ": " + one_line(at.error().message()));
  return checked;
}

std::expected<void, node_error> check_any(const config_item& item) {
  constexpr std::array<std::string_view, 2> known{"links", "node"};
  if (item.path.empty())
    return fail_at(item.place, "troupe is a group: write troupe { ... }; known in it: links, node");
  const auto& first = item.path[0];
  if (first == "node")
    return check_node_item(item);
  if (first != "links")
    return fail_at(item.place, "troupe has no \"" + one_line(cut(first)) + '"' + did_you_mean(first, known));
  if (item.path.size() > 1)
    return check_link_item(item);
  if (item.value.form != shape::group)
    return fail_at(item.place, "troupe.links is a group: write troupe.links { default { ... } }");
  return {};
}

/// Sets one option of an entry from a checked item.
template <class Entry>
void apply(const config_item& item, std::size_t first, std::span<const option_row<Entry>> rows, Entry& to) {
  if (const auto* row = find_row(rows, joined(item.path, first))) {
    [[maybe_unused]] auto fits = row->assign(item.value, row->range, to);
    assert(fits);
  }
}

/// Sets one option of a role, and adds the role if it is new.
void apply_to_role(const config_item& item, std::vector<peer_role>& roles) {
  if (item.path.size() < 4)
    return;
  auto role = std::ranges::find(roles, item.path[3], &peer_role::name);
  if (role == roles.end())
    role = roles.insert(role, {.name = item.path[3]});
  apply(item, 4, role_rows(), *role);
}

bool is_of_roles(const config_item& item) {
  return item.path.size() > 2 && item.path[2] == configuration::roles_group;
}

void apply_to_link(const config_item& item, link_entry& to) {
  if (is_of_roles(item))
    apply_to_role(item, to.options.roles);
  else
    apply(item, 2, link_rows(), to);
}

bool is_of(const config_item& item, std::string_view entry) {
  return item.path.size() > 1 && item.path[0] == "links" && item.path[1] == entry;
}

std::expected<void, node_error> check_names(const config_item& item, const family_set& families) {
  const auto& key = item.path.back(); // No item of a configuration has an empty path.
  if (key != "serializers" && key != "deserializers" && key != "store-families")
    return {};
  auto known = families.names();
  std::vector<std::string_view> names{known.begin(), known.end()};
  for (const auto& element : item.value.elements)
    if (families.find(element.text) == nullptr)
      return fail_at(item.place, dotted(item.path) + " names the family \"" + one_line(cut(element.text))
                                     + "\", which this node does not have" + did_you_mean(element.text, names));
  return {};
}

} // namespace

std::expected<configuration, node_error> configuration::make(std::vector<config_item> items) {
  std::map<path, std::size_t> lines;
  for (const auto& item : items) {
    if (auto known = check_any(item); !known)
      return std::unexpected{std::move(known).error()};
    if (item.value.form == shape::group || item.place.line == 0)
      continue;
    auto [before, is_new] = lines.try_emplace(item.path, item.place.line);
    if (!is_new)
      return fail_at(item.place, dotted(item.path) + " is already set in line " + std::to_string(before->second)
                                     + "; remove one of them");
  }
  configuration result;
  result.items_ = std::move(items);
  return result;
}

node_options configuration::node(node_options given) const {
  node_entry entry;
  entry.options = std::move(given);
  for (const auto& item : items_)
    if (!item.path.empty() && item.path[0] == "node")
      apply(item, 1, node_rows(), entry);
  auto& options = entry.options;
  options.accepted_links = link(accepted_entry, {.options = std::move(options.accepted_links)}).options;
  options.store.set_default(entry.has_store ? std::optional{std::move(entry.store)} : std::nullopt);
  return std::move(options);
}

link_entry configuration::link(std::string_view entry, link_entry given) const {
  return completed(std::move(given), std::array{default_entry, entry});
}

link_entry configuration::own_link(std::string_view entry) const {
  return completed({}, std::array{entry});
}

link_entry configuration::completed(link_entry given, std::span<const std::string_view> entries) const {
  link_entry result = given;
  for (auto name : entries)
    for (const auto& item : items_)
      if (is_of(item, name))
        apply_to_link(item, result);
  // These groups are set as a whole, because half of one secret and half of another would be neither.
  if (!given.options.roles.empty())
    result.options.roles = std::move(given.options.roles);
  if (given.options.credentials != credentials{})
    result.options.credentials = std::move(given.options.credentials);
  if (given.options.receive_limits != limits{})
    result.options.receive_limits = given.options.receive_limits;
  if (given.options.recording != recording_options{})
    result.options.recording = std::move(given.options.recording);
  return result;
}

std::vector<std::string> configuration::entries() const {
  std::vector<std::string> names;
  for (const auto& item : items_)
    if (item.path.size() > 1 && item.path[0] == "links" && std::ranges::find(names, item.path[1]) == names.end())
      names.push_back(item.path[1]);
  return names;
}

std::string configuration::place_of(std::string_view entry) const {
  for (auto name : {entry, configuration::default_entry})
    for (const auto& item : items_)
      if (is_of(item, name))
        return item.place.text();
  return {};
}

std::string configuration::place_of_node() const {
  auto found =
      std::ranges::find_if(items_, [](const auto& item) { return !item.path.empty() && item.path[0] == "node"; });
  return found == items_.end() ? std::string{} : found->place.text();
}

std::expected<void, node_error> configuration::check_families(const family_set& known,
                                                              std::optional<std::string_view> entry) const {
  const auto applies = [&](const config_item& item) {
    if (!entry || is_of(item, *entry))
      return true;
    if (!is_of(item, default_entry))
      return false;
    auto replacing = item.path;
    replacing[1] = *entry;
    return std::ranges::find(items_, replacing, &config_item::path) == items_.end();
  };
  for (auto item = items_.begin(); item != items_.end(); ++item)
    if (auto names = check_names(*item, known); !names && applies(*item) && !is_set_again(item))
      return names;
  return {};
}

bool configuration::is_set_again(std::vector<config_item>::const_iterator item) const {
  return std::find_if(item + 1, items_.end(), [&](const auto& later) { return later.path == item->path; })
         != items_.end();
}

} // namespace troupe::internal
