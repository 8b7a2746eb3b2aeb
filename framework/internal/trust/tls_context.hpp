// What all TLS connections of one listener or of one dialing have in common: certificates, keys, whom to trust.
#pragma once

#include <expected>
#include <memory>
#include <string>

#include <troupe/framework/link_options.hpp>
#include <troupe/framework/node_errc.hpp>

// As OpenSSL names them.
struct ssl_st;
struct ssl_ctx_st;

namespace troupe::internal {

using tls_context = std::shared_ptr<ssl_ctx_st>;

/// TLS 1.3 only, no resumption. Fails with `bad_option`, naming the option and the file.
[[nodiscard]] std::expected<tls_context, node_error> make_listening_tls(const tls_options& options);
[[nodiscard]] std::expected<tls_context, node_error> make_dialing_tls(const tls_options& options);

/// One connection's state, for its new owner. A dialing one accepts a certificate of `server` only, a name or an IP
/// address; a listening one has none.
[[nodiscard]] ssl_st* make_tls_session(const tls_context& context, const std::string& server);

} // namespace troupe::internal
