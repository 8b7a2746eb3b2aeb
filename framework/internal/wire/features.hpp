// What a link can do beyond the first form of its protocol. Each end lists its features in the hello; a link uses those
// that both ends have, so that a newer node works with an older one. Pure. The list: framework/link-protocol.md.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <troupe/serializers/describe.hpp>

namespace troupe::internal {

/// A feature as the hello names it. A version includes all lower ones; a name never gets another meaning.
struct feature_offer {
  std::string name;
  std::uint32_t version = 0; // From 1 on.
};
TROUPE_DESCRIBE(feature_offer, name, version)

/// What this version of Troupe knows; the numbers do not travel.
enum class feature : std::uint8_t {
  extensions,     // Messages may carry an extension map (message_extensions.hpp).
  handle_windows, // Bytes behind handles count against windows of their own.
  node_key,       // The token is the public part of the node's key, and each end proves that it has the other part.
  value_bytes,    // Messages say what their values take, where that is more than their own bytes.
  whereabouts,    // Nodes say where they listen, and where those do whose handles they pass on (introductions.hpp).
  nested_handles, // Payloads within an element's payload may mention handles (nested_mentions.cpp).
  rings,          // The bytes of unix sockets may move into shared memory (ring_move.hpp).
  count_          // No feature: how many there are.
};

/// Name and version of each, in the order of the enumeration. A new feature is a row here and there.
inline constexpr std::array<std::pair<std::string_view, std::uint32_t>, static_cast<std::size_t>(feature::count_)>
    known_features{{{"extensions", 1},
                    {"handle_windows", 1},
                    {"node_key", 1},
                    {"value_bytes", 1},
                    {"whereabouts", 1},
                    {"nested_handles", 1},
                    {"rings", 1}}};

/// How many features a hello may list, and how long a name may be.
inline constexpr std::size_t features_max = 256;
inline constexpr std::size_t feature_name_bytes_max = 64;

/// What this end's hello lists.
[[nodiscard]] std::vector<feature_offer> offered_features();

/// The features that both ends of a link have.
class feature_set {
public:
  feature_set() = default;

  /// What is common to this version and a hello; features that this version does not know are passed over. Fails, with
  /// the reason, for a list that is too long, names a feature twice, or has a name or version that cannot be one.
  [[nodiscard]] static std::expected<feature_set, std::string> agree(std::span<const feature_offer> theirs);

  /// The lower of both ends' versions; 0 where one of them does not have the feature.
  [[nodiscard]] std::uint32_t version(feature which) const noexcept {
    return versions_[static_cast<std::size_t>(which)];
  }
  [[nodiscard]] bool has(feature which) const noexcept { return version(which) != 0; }

private:
  std::array<std::uint32_t, static_cast<std::size_t>(feature::count_)> versions_{};
};

} // namespace troupe::internal
