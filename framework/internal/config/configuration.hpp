// What a configuration file and the command line set for nodes and links.
#pragma once

#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <troupe/framework/internal/config/config_text.hpp>
#include <troupe/framework/internal/config/option_table.hpp>
#include <troupe/framework/node_errc.hpp>
#include <troupe/serializers/family.hpp>

namespace troupe::internal {

/// Checked items. Each is an option of `troupe.node` or of an entry of `troupe.links`, with a value of its type and
/// range. Family names are checked later, when the families are known.
class configuration {
public:
  /// The entries of `troupe.links` that are not addresses.
  static constexpr std::string_view default_entry = "default";
  static constexpr std::string_view accepted_entry = "accepted";
  /// The group of the entry "accepted" whose keys are names.
  static constexpr std::string_view roles_group = "roles";

  configuration() = default;

  /// `items` are in ascending order of precedence: a later item overrides an earlier one. Fails with `bad_option`; the
  /// text names the place and the known keys. Also fails if a file sets a key twice.
  [[nodiscard]] static std::expected<configuration, node_error> make(std::vector<config_item> items);

  /// Completes `given`. Options that are not set take the values of `troupe.node`. Those of `accepted_links` take the
  /// values of the entry "accepted".
  [[nodiscard]] node_options node(node_options given = {}) const;

  /// Completes `given`. Options that are not set take the values of an entry, which is named by an address or
  /// "accepted", or else those of the entry "default".
  [[nodiscard]] link_entry link(std::string_view entry, link_entry given = {}) const;

  /// The entry's own options, without those of the entry "default".
  [[nodiscard]] link_entry own_link(std::string_view entry) const;

  /// The entries of the file and the command line, in order.
  [[nodiscard]] std::vector<std::string> entries() const;

  /// The place where that entry begins, or else "default"; empty if neither exists.
  [[nodiscard]] std::string place_of(std::string_view entry) const;

  /// The place where `troupe.node` is first set; empty if it is not set.
  [[nodiscard]] std::string place_of_node() const;

  /// Fails with `bad_option` if a family is unknown; the text names the place and the known families. Checks the values
  /// of the node and of all links, or only those that apply to one entry. Values that the command line or the entry
  /// overrides are not checked.
  [[nodiscard]] std::expected<void, node_error> check_families(const family_set& known,
                                                               std::optional<std::string_view> entry = {}) const;

private:
  /// Completes `given` with the entries of these names, in ascending order of precedence.
  [[nodiscard]] link_entry completed(link_entry given, std::span<const std::string_view> entries) const;

  /// Whether the command line overrides the item.
  [[nodiscard]] bool is_set_again(std::vector<config_item>::const_iterator item) const;

  std::vector<config_item> items_;
};

} // namespace troupe::internal
