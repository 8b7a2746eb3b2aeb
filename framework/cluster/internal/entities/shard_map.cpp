#include <troupe/framework/cluster/internal/entities/shard_map.hpp>

#include <troupe/framework/cluster/internal/membership/stable_hash.hpp>

namespace troupe::membership {

std::uint32_t shard_of(std::string_view key, std::size_t shards) noexcept {
  return static_cast<std::uint32_t>(stable_hash(key) % shards);
}

std::optional<std::size_t> place_of(std::string_view kind, std::uint32_t shard,
                                    std::span<const std::string> hosts) noexcept {
  std::optional<std::size_t> best;
  std::uint64_t highest = 0;
  const auto salt = mixed(stable_hash(kind) + shard);
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    const auto weight = rendezvous_weight(hosts[i], salt);
    if (best && (weight < highest || (weight == highest && hosts[*best] < hosts[i])))
      continue;
    best = i;
    highest = weight;
  }
  return best;
}

} // namespace troupe::membership
