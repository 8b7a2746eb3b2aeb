// Which members a client uses, if it does not use all.
#pragma once

#include <cstdint>
#include <string_view>

namespace troupe::membership {

/// The rank of a member for a client: each client uses the members with its highest ranks. So clients use different
/// members, and if one goes, only its clients change.
///
/// Rendezvous hashing (Thaler and Ravishankar, "A name-based mapping scheme for rendezvous", 1996), by FNV-1a (Fowler,
/// Noll and Vo) and the finalizer of MurmurHash3 (Appleby) with Stafford's constants ("Mix13"). Why subsets: "Site
/// Reliability Engineering" (Beyer et al., 2016), chapter 20.
[[nodiscard]] constexpr std::uint64_t rank_of(std::string_view client, std::string_view member) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325;
  const auto add = [&](unsigned char each) { hash = (hash ^ each) * 0x100000001b3; };
  for (const auto each : client)
    add(static_cast<unsigned char>(each));
  add(0); // Neither name has this byte in practice, so that "a", "bc" differs from "ab", "c".
  for (const auto each : member)
    add(static_cast<unsigned char>(each));
  hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9;
  hash = (hash ^ (hash >> 27)) * 0x94d049bb133111eb;
  return hash ^ (hash >> 31);
}

} // namespace troupe::membership
