// The keys of a cluster's entries: cluster/format.md.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace troupe::membership {

inline constexpr std::string_view members_prefix = "members/";
inline constexpr std::string_view names_prefix = "names/";
inline constexpr std::string_view singletons_prefix = "singletons/";

/// A name as a part of a key: "/" and "%" become "%2F" and "%25".
[[nodiscard]] std::string key_part(std::string_view name);

/// The name that a part of a key stands for; nullopt if key_part() makes no such part.
[[nodiscard]] std::optional<std::string> name_in(std::string_view part);

[[nodiscard]] std::string member_key(std::string_view member);
[[nodiscard]] std::string name_key(std::string_view member, std::string_view name);
[[nodiscard]] std::string singleton_key(std::string_view name);

/// A name that a member has published: the key is "names/MEMBER/NAME".
struct published_name {
  std::string member;
  std::string name;
};

/// nullopt if it is not such a key.
[[nodiscard]] std::optional<std::string> member_in(std::string_view key);
[[nodiscard]] std::optional<published_name> published_name_in(std::string_view key);
[[nodiscard]] std::optional<std::string> singleton_in(std::string_view key);

} // namespace troupe::membership
