// Admission: what an address and the options require of the two ends of a link. The rules: framework/link-protocol.md.
#pragma once

#include <expected>
#include <memory>
#include <span>
#include <string>

#include <troupe/framework/internal/net/address.hpp>
#include <troupe/framework/internal/net/stream_socket.hpp>
#include <troupe/framework/internal/net/transport.hpp>
#include <troupe/framework/internal/trust/handshake_turns.hpp>
#include <troupe/framework/internal/trust/secret_book.hpp>
#include <troupe/framework/internal/trust/tls_context.hpp>
#include <troupe/framework/link_options.hpp>
#include <troupe/framework/node_errc.hpp>

namespace troupe::internal {

/// Set before a link starts, then only read.
struct link_security {
  transport_kind kind = transport_kind::unix_socket;
  /// To be proven by both ends; null or empty if the transport itself keeps strangers out.
  std::shared_ptr<secret_book> secrets = nullptr;
  std::string chosen = {};     // When dialing: the secret of the book to prove; empty: the first one.
  bool is_cookie = false;      // The secret is the cookie of this user's processes on this host.
  tls_context tls = {};        // Set with TLS only.
  std::string tls_server = {}; // When dialing with TLS: the name that the peer's certificate must contain.
  bool wants_rings = false;    // Written with "shm://".
  std::string caution = {};    // A warning for the log; usually empty.
};

/// The credentials and roles of `with` apply. Fails with `bad_option` if anybody could connect; the text says how to
/// change that.
[[nodiscard]] std::expected<link_security, node_error>
security_for_listening(const address& at, std::span<const stream_endpoint> endpoints, const link_options& with);

/// Fails with `bad_option` for credentials that no link could use: a secret that is too short or given twice, or files
/// that are missing or have the wrong content.
[[nodiscard]] std::expected<void, node_error> check_credentials(const credentials& with);

/// Checks the credentials for links to `to` before dialing, without looking up a name or creating a cookie. `own` are
/// the credentials that were given for this address alone. If such links never use one of them, that is an error. Fails
/// with `bad_option`.
[[nodiscard]] std::expected<void, node_error> check_dialing(const address& to, const credentials& with,
                                                            const credentials& own);

/// Checks the credentials and roles for links that peers dial, as far as possible without knowing the address. Fails
/// with `bad_option`.
[[nodiscard]] std::expected<void, node_error> check_listening(const link_options& with);

/// `secrets` has those of `with`. Fails with `bad_option`.
[[nodiscard]] std::expected<link_security, node_error> security_for_dialing(const address& to,
                                                                            std::span<const stream_endpoint> endpoints,
                                                                            const credentials& with,
                                                                            std::shared_ptr<secret_book> secrets);

/// Makes the transport over a connected socket. If the other end of a unix socket is another user, fails with
/// `refused`. At the listening end, `turns` decides when a TLS handshake may begin.
[[nodiscard]] std::expected<std::shared_ptr<transport>, node_error>
make_transport(stream_socket socket, const link_security& security, std::shared_ptr<handshake_turns> turns = nullptr);

} // namespace troupe::internal
