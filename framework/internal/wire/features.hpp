// What a link can do beyond the first form of its protocol. Each end lists its features in the hello. A link uses the
// features that both ends have, so that newer nodes work with older ones. Pure. The list: framework/link-protocol.md.
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

/// A feature as listed in the hello. A version includes all lower ones; a name never changes its meaning.
struct feature_offer {
  std::string name;
  std::uint32_t version = 0; // From 1 on.
};
TROUPE_DESCRIBE(feature_offer, name, version)

/// The features of this version of Troupe; these numbers do not travel.
enum class feature : std::uint8_t {
  extensions,     // Messages may carry an extension map (message_extensions.hpp).
  handle_windows, // Bytes behind handles count against windows of their own.
  node_key,       // The token is the public part of the node's key, and each end proves that it has the private part.
  value_bytes,    // Messages state the memory of their values, if that is more than their own bytes.
  whereabouts,    // Nodes tell their addresses, and those of nodes whose handles they pass on (introductions.hpp).
  nested_handles, // Payloads within an element's payload may mention handles (nested_mentions.cpp).
  rings,          // The bytes of unix sockets may move into shared memory (ring_move.hpp).
  deadlines,      // Requests may state how much time is left for them (message_deadline.hpp).
  traces,         // Messages may carry a trace context (message_trace.hpp), in larger extension maps.
  repeats,        // Requests may have an identity by which a repeated one is recognized (request_identity.hpp).
  name_news,      // A peer that has found a name is told if the name is withdrawn or published anew.
  count_          // Not a feature: the number of features.
};

/// Name and version of each feature, in the order of the enumeration. A new feature needs an enumerator and a row here.
inline constexpr std::array<std::pair<std::string_view, std::uint32_t>, static_cast<std::size_t>(feature::count_)>
    known_features{{{"extensions", 1},
                    {"handle_windows", 1},
                    {"node_key", 1},
                    {"value_bytes", 1},
                    {"whereabouts", 1},
                    {"nested_handles", 1},
                    {"rings", 1},
                    {"deadlines", 1},
                    {"traces", 1},
                    {"repeats", 1},
                    {"name_news", 1}}};

/// Bounds on the features of a hello and on the length of a name.
inline constexpr std::size_t features_max = 256;
inline constexpr std::size_t feature_name_bytes_max = 64;

/// The list for this end's hello.
[[nodiscard]] std::vector<feature_offer> offered_features();

/// The features that both ends of a link have.
class feature_set {
public:
  feature_set() = default;

  /// Returns the features common to this version and a hello. Ignores features that this version does not know. Fails,
  /// with the reason, if the list is too long, names a feature twice, or has an invalid name or version.
  [[nodiscard]] static std::expected<feature_set, std::string> agree(std::span<const feature_offer> theirs);

  /// The lower of both ends' versions; 0 if an end does not have the feature.
  [[nodiscard]] std::uint32_t version(feature which) const noexcept {
    return versions_[static_cast<std::size_t>(which)];
  }
  [[nodiscard]] bool has(feature which) const noexcept { return version(which) != 0; }
  /// Returns false for names that this version does not know.
  [[nodiscard]] bool has(std::string_view name) const noexcept;

private:
  std::array<std::uint32_t, static_cast<std::size_t>(feature::count_)> versions_{};
};

} // namespace troupe::internal
