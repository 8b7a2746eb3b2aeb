// Which shard a key belongs to, and which member a shard.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace troupe::membership {

/// The stable hash of the key modulo `shards`. Requires: `shards` is not 0.
[[nodiscard]] std::uint32_t shard_of(std::string_view key, std::size_t shards) noexcept;

/// The index of the host that is to own the shard, by rendezvous hashing: if a host comes or goes, only its own shards
/// move. nullopt if there is none.
[[nodiscard]] std::optional<std::size_t> place_of(std::string_view kind, std::uint32_t shard,
                                                  std::span<const std::string> hosts) noexcept;

} // namespace troupe::membership
