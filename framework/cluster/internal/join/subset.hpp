// Which members a client uses, if it does not use all.
#pragma once

#include <cstdint>
#include <string_view>

#include <troupe/framework/cluster/internal/membership/stable_hash.hpp>

namespace troupe::membership {

/// The rank of a member for a client: each client uses the members with its highest ranks. So clients use different
/// members, and if one goes, only its clients change. Why subsets: "Site Reliability Engineering" (Beyer et al., 2016),
/// chapter 20.
[[nodiscard]] constexpr std::uint64_t rank_of(std::string_view client, std::string_view member) noexcept {
  const auto salt = mixed(stable_hash(client)); // Mixed once more, so that a's rank for b is not b's rank for a.
  return rendezvous_weight(member, salt);
}

} // namespace troupe::membership
