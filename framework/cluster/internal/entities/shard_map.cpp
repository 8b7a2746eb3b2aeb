#include <troupe/framework/cluster/internal/entities/shard_map.hpp>

namespace troupe::membership {

namespace {

std::uint64_t mix(std::uint64_t bits) noexcept {
  bits = (bits ^ (bits >> 33)) * 0xff51afd7ed558ccd;
  bits = (bits ^ (bits >> 33)) * 0xc4ceb9fe1a85ec53;
  return bits ^ (bits >> 33);
}

} // namespace

std::uint64_t stable_hash(std::string_view text) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const auto each : text)
    hash = (hash ^ static_cast<unsigned char>(each)) * 0x100000001b3;
  return mix(hash);
}

std::uint32_t shard_of(std::string_view key, std::size_t shards) noexcept {
  return static_cast<std::uint32_t>(stable_hash(key) % shards);
}

std::optional<std::size_t> place_of(std::string_view kind, std::uint32_t shard,
                                    std::span<const std::string> hosts) noexcept {
  std::optional<std::size_t> best;
  std::uint64_t highest = 0;
  const auto salt = mix(stable_hash(kind) + shard);
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    const auto weight = mix(stable_hash(hosts[i]) ^ salt);
    if (best && (weight < highest || (weight == highest && hosts[*best] < hosts[i])))
      continue;
    best = i;
    highest = weight;
  }
  return best;
}

} // namespace troupe::membership
