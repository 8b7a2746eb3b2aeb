// What a configuration file and the command line say about nodes and links.
#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include <troupe/framework/internal/config/config_text.hpp>
#include <troupe/framework/internal/config/option_table.hpp>
#include <troupe/framework/node_errc.hpp>
#include <troupe/serializers/family.hpp>

namespace troupe::internal {

/// Items that were checked: each is an option of `troupe.node` or of an entry of `troupe.links`, and has a value of its
/// type and range. Which families there are is known later.
class configuration {
public:
  /// The entries of `troupe.links` that are no addresses.
  static constexpr std::string_view default_entry = "default";
  static constexpr std::string_view accepted_entry = "accepted";

  configuration() = default;

  /// `items` in the order in which they count: a later one wins. Fails with `bad_option`, naming the place and what is
  /// known there; also for a key that stands in a file twice.
  [[nodiscard]] static std::expected<configuration, node_error> make(std::vector<config_item> items);

  /// `accepted_links` is the entry "accepted".
  [[nodiscard]] node_options node() const;

  /// The entry of that name, an address or "accepted": what "default" says and then what the entry says.
  [[nodiscard]] link_entry link(std::string_view entry) const;

  /// Only what the entry itself says, and the defaults of the code.
  [[nodiscard]] link_entry own_link(std::string_view entry) const;

  /// The entries that the file or the command line have, in their order.
  [[nodiscard]] std::vector<std::string> entries() const;

  /// Where that entry begins, or else "default"; empty where neither is there.
  [[nodiscard]] std::string place_of(std::string_view entry) const;

  /// Where `troupe.node` is first set; empty where it is not.
  [[nodiscard]] std::string place_of_node() const;

  /// Fails with `bad_option` for a family that is not among the known ones, naming the place and the known ones. What
  /// is replaced, on the command line or by the entry, may name any.
  [[nodiscard]] std::expected<void, node_error> check_families(const family_set& known) const;
  /// The same for what one entry is made of.
  [[nodiscard]] std::expected<void, node_error> check_families(const family_set& known, std::string_view entry) const;

private:
  /// On the command line.
  [[nodiscard]] bool is_set_again(std::vector<config_item>::const_iterator item) const;

  std::vector<config_item> items_;
};

} // namespace troupe::internal
