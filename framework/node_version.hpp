// What a peer runs: its versions, and the features of its links.
#pragma once

#include <cstdint>
#include <string>

#include <troupe/base/export.hpp>
#include <troupe/serializers/describe.hpp>

namespace troupe {

/// The versions that a node states when a link is made. A peer may state anything: show it to people, and decide by
/// link_feature.
struct node_version {
  std::string troupe;               // Of the library, as in "0.1.0"; empty if the node does not state it.
  std::uint16_t protocol = 0;       // Of the link protocol. Both ends of a link have the same.
  std::uint16_t protocol_minor = 0; // Grows with each feature that a version of the protocol gets.

  friend bool operator==(const node_version&, const node_version&) = default;
};
TROUPE_DESCRIBE(node_version, troupe, protocol, protocol_minor)

/// Returns "Troupe 0.1.0, protocol 1.2". Control characters of the peer's text are replaced.
[[nodiscard]] TROUPE_EXPORT std::string to_string(const node_version& version);

/// A feature of the link protocol that the peer has (framework/link-protocol.md lists them).
struct link_feature {
  std::string name;
  std::uint32_t version = 0; // The peer's.
  bool in_use = false;       // False if this node does not have the feature, in any version.

  friend bool operator==(const link_feature&, const link_feature&) = default;
};
TROUPE_DESCRIBE(link_feature, name, version, in_use)

} // namespace troupe
