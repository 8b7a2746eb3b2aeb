// The keys of a cluster's entries: cluster/format.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace troupe::membership {

inline constexpr std::string_view members_prefix = "members/";
inline constexpr std::string_view names_prefix = "names/";
inline constexpr std::string_view singletons_prefix = "singletons/";
inline constexpr std::string_view kinds_prefix = "kinds/";
inline constexpr std::string_view shards_prefix = "shards/";
inline constexpr std::string_view remembered_prefix = "remembered/";
inline constexpr std::string_view orders_prefix = "orders/";

/// A name as a part of a key: "/" and "%" become "%2F" and "%25".
[[nodiscard]] std::string key_part(std::string_view name);

/// The name that a part of a key stands for; nullopt if key_part() makes no such part.
[[nodiscard]] std::optional<std::string> name_in(std::string_view part);

[[nodiscard]] std::string member_key(std::string_view member);
[[nodiscard]] std::string name_key(std::string_view member, std::string_view name);
[[nodiscard]] std::string singleton_key(std::string_view name);
[[nodiscard]] std::string kind_key(std::string_view kind);
[[nodiscard]] std::string shard_key(std::string_view kind, std::uint32_t shard);
[[nodiscard]] std::string order_key(std::string_view member);

/// A name that a member has published: the key is "names/MEMBER/NAME".
struct published_name {
  std::string member;
  std::string name;
};

/// nullopt if it is not such a key.
[[nodiscard]] std::optional<std::string> member_in(std::string_view key);
[[nodiscard]] std::optional<published_name> published_name_in(std::string_view key);
[[nodiscard]] std::optional<std::string> singleton_in(std::string_view key);
[[nodiscard]] std::optional<std::string> kind_in(std::string_view key);
/// The member that is ordered.
[[nodiscard]] std::optional<std::string> ordered_member_in(std::string_view key);

/// Bounds entity_options::shards.
inline constexpr std::uint32_t shards_max = 4'096;

/// A shard of a kind of entities: the key is "shards/KIND/NUMBER".
struct shard_name {
  std::string kind;
  std::uint32_t shard = 0;
};
[[nodiscard]] std::optional<shard_name> shard_in(std::string_view key);

/// The name under which the members that host a kind of entities publish where its messages arrive.
inline constexpr std::string_view region_names = "troupe.entities.";
[[nodiscard]] inline std::string region_name(std::string_view kind) {
  return std::string{region_names} + std::string{kind};
}

/// The keys that remember which entities run. Only the next owner of a shard reads them.
[[nodiscard]] std::string remembered_prefix_of(std::string_view kind);
[[nodiscard]] std::string remembered_key(std::string_view kind, std::uint32_t shard, std::string_view key);
struct remembered_name {
  std::uint32_t shard = 0;
  std::string key;
};
[[nodiscard]] std::optional<remembered_name> remembered_in(std::string_view key);

} // namespace troupe::membership
