// Hashes on which all members of a cluster agree.
#pragma once

#include <cstdint>
#include <string_view>

#include <troupe/base/fnv1a.hpp>

namespace troupe::membership {

/// The finalizer of MurmurHash3 (Appleby): every bit of the input changes each bit of the output with a probability
/// near one half.
[[nodiscard]] constexpr std::uint64_t mixed(std::uint64_t bits) noexcept {
  bits = (bits ^ (bits >> 33)) * 0xff51afd7ed558ccd;
  bits = (bits ^ (bits >> 33)) * 0xc4ceb9fe1a85ec53;
  return bits ^ (bits >> 33);
}

/// A number that is the same in every process and version.
[[nodiscard]] constexpr std::uint64_t stable_hash(std::string_view text) noexcept {
  return mixed(detail::fnv1a(text));
}

/// How much `member` is to have what has this salt: the member with the highest weight has it. If a member comes or
/// goes, only its own share moves. Requires: `salt` is mixed, and not only by stable_hash().
///
/// Rendezvous hashing (Thaler and Ravishankar, "A name-based mapping scheme for rendezvous", 1996).
[[nodiscard]] constexpr std::uint64_t rendezvous_weight(std::string_view member, std::uint64_t salt) noexcept {
  return mixed(stable_hash(member) ^ salt);
}

} // namespace troupe::membership
