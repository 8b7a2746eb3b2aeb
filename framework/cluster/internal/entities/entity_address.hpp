// How a message says which entity it is for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include <caf/message.hpp>

namespace troupe::membership {

/// The last three elements of a message on its way to an entity: the key as a text, and two numbers.
struct entity_address {
  static constexpr std::size_t key_bytes_max = 1'024;
  static constexpr std::size_t elements = 3;
  static constexpr unsigned hops_max = 8;
  static constexpr std::uint64_t way_end = std::uint64_t{1} << 47;

  std::string key;
  std::uint32_t shard = 0; // Below shards_max.
  std::uint32_t hops = 0;  // How often it went to a member that was not the owner.
  /// The message has no content. The owner answers it: every message that went before it on this way has arrived.
  bool is_marker = false;
  std::uint64_t way = 0; // Of the sender, below way_end; see arrival_order. 0: unknown.
  /// The fencing number of the ownership for which it was sent, or of the last owner that has passed it on. 0: unknown.
  std::uint64_t fence = 0;
};

[[nodiscard]] caf::message with_address(const caf::message& content, const entity_address& to);

/// nullopt if the message has no address.
[[nodiscard]] std::optional<entity_address> address_of(const caf::message& addressed);

[[nodiscard]] caf::message without_address(const caf::message& addressed);

} // namespace troupe::membership
