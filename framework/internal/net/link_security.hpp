// Who gets in: what an address and the options ask of the two ends of a link. The rules: framework/link-protocol.md.
#pragma once

#include <expected>
#include <memory>
#include <span>
#include <string>

#include <troupe/framework/internal/net/address.hpp>
#include <troupe/framework/internal/net/stream_socket.hpp>
#include <troupe/framework/internal/net/transport.hpp>
#include <troupe/framework/internal/trust/handshake_turns.hpp>
#include <troupe/framework/internal/trust/tls_context.hpp>
#include <troupe/framework/link_options.hpp>
#include <troupe/framework/node_errc.hpp>

namespace troupe::internal {

/// Set before a link starts, then only read.
struct link_security {
  transport_kind kind = transport_kind::unix_socket;
  std::string secret = {};     // To be proven by both ends; empty where the transport lets nobody in who should not be.
  bool is_cookie = false;      // The secret is that of this user's processes on this host.
  tls_context tls = {};        // With TLS only.
  std::string tls_server = {}; // Dialing with TLS: whose certificate the peer must have.
  bool wants_rings = false;    // The address says so.
  std::string caution = {};    // What whoever runs the node should be warned of; mostly nothing.
};

/// Fails with `bad_option` where anybody could come in, saying how to change that.
[[nodiscard]] std::expected<link_security, node_error>
security_for_listening(const address& at, std::span<const stream_endpoint> endpoints, const credentials& with);

/// Fails with `bad_option` for credentials that no link could use: a secret that is too short or given twice, files
/// that are missing or hold something else.
[[nodiscard]] std::expected<void, node_error> check_credentials(const credentials& with);

/// What can be told of links to `to` before it is dialed, without looking up a name and without making a cookie.
/// `own` is what was written for this address alone: what such links never use is an error there. Fails with
/// `bad_option`.
[[nodiscard]] std::expected<void, node_error> check_dialing(const address& to, const credentials& with,
                                                            const credentials& own);

/// What can be told of links that peers dial, wherever that will be. Fails with `bad_option`.
[[nodiscard]] std::expected<void, node_error> check_listening(const credentials& with);

/// Fails with `bad_option`.
[[nodiscard]] std::expected<link_security, node_error>
security_for_dialing(const address& to, std::span<const stream_endpoint> endpoints, const credentials& with);

/// The transport over a connected socket. Fails with `refused` when a unix socket's other end is another user. At the
/// listening end `turns` says when a TLS handshake may begin.
[[nodiscard]] std::expected<std::shared_ptr<transport>, node_error>
make_transport(stream_socket socket, const link_security& security, std::shared_ptr<handshake_turns> turns = nullptr);

} // namespace troupe::internal
