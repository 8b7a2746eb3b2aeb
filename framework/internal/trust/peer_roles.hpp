// Which role a peer has, and what it may do. Pure.
#pragma once

#include <cstddef>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <troupe/framework/link_options.hpp>
#include <troupe/framework/node_errc.hpp>

namespace troupe::internal {

inline constexpr std::size_t roles_max = 16;
inline constexpr std::size_t role_name_bytes_max = 64;

/// What a peer has proven about itself in the handshake.
struct proven_peer {
  bool is_same_user = false;
  /// The role whose secret it has proven; empty if that was a secret of the credentials, or if no secret is used.
  std::string role_of_secret = {};
  /// The names in its certificate, each with its kind: "DNS:", "URI:", "CN=" or "OU=".
  std::vector<std::string> certificate_names = {};
};

/// What the peer of a link may do at this end.
struct peer_rights {
  bool spawn = false;
  bool tasks = false;
  bool exits = false;
  bool memory_summary = false;
  bool report = false;
  bool recording = false;
  bool orders = false;
  std::vector<std::string> find = {}; // As link_options::allow_find.

  friend bool operator==(const peer_rights&, const peer_rights&) = default;
};

/// Fails with `bad_option` if a role has no name, a name that another role has, no condition, or a name of certificates
/// that none can have.
[[nodiscard]] std::expected<void, node_error> check_roles(std::span<const peer_role> roles, const tls_options& with);

/// Whether a role depends on the peer's certificate.
[[nodiscard]] bool any_asks_for_certificate(std::span<const peer_role> roles);

/// The first role whose conditions the peer meets; null if it meets those of none. Fails with `refused` if the peer has
/// proven the secret of a role and meets no role with it.
[[nodiscard]] std::expected<const peer_role*, node_error> role_of(const proven_peer& who,
                                                                  std::span<const peer_role> roles);

/// `role` may be null.
[[nodiscard]] peer_rights rights_of(const link_options& options, const peer_role* role);

/// Whether `wanted` (peer_role::certificate_names) stands for `name`, which begins with its kind.
[[nodiscard]] bool is_certificate_name(std::string_view name, std::string_view wanted);

/// Whether the rights include finding an actor of this name.
[[nodiscard]] bool may_find(const peer_rights& rights, std::string_view name);

/// Ends a sentence such as "far runs no tasks" with the place where this end's right is missing. `role`: the role that
/// this end has at the peer, in the peer's words. If that is empty, returns `without_role`.
[[nodiscard]] std::string lacks_right(std::string_view role, std::string_view option, std::string_view without_role);

} // namespace troupe::internal
