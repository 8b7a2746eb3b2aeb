// The common part of all TLS connections of one listener or one dialing: certificates, keys, and authorities.
#pragma once

#include <expected>
#include <memory>
#include <string>
#include <vector>

#include <troupe/framework/link_options.hpp>
#include <troupe/framework/node_errc.hpp>

// OpenSSL's names.
struct ssl_st;
struct ssl_ctx_st;

namespace troupe::internal {

using tls_context = std::shared_ptr<ssl_ctx_st>;

/// TLS 1.3 only, no resumption. `asks_for_certificate`: a peer may show a certificate, which must be good, even if the
/// options do not require one. Fails with `bad_option`; the text names the option and the file.
[[nodiscard]] std::expected<tls_context, node_error> make_listening_tls(const tls_options& options,
                                                                        bool asks_for_certificate = false);
[[nodiscard]] std::expected<tls_context, node_error> make_dialing_tls(const tls_options& options);

/// Makes the state of one connection, which the caller owns. A dialing end accepts only a certificate of `server`, a
/// name or an IP address; a listening end passes an empty `server`.
[[nodiscard]] ssl_st* make_tls_session(const tls_context& context, const std::string& server);

/// The names in the peer's certificate that a role may depend on (trust/peer_roles.hpp), each with its kind. Names with
/// characters that no text has are left out. Empty if the peer has shown no certificate.
[[nodiscard]] std::vector<std::string> certificate_names_of(const ssl_st* session);

} // namespace troupe::internal
