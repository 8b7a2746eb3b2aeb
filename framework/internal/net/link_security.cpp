#include <troupe/framework/internal/net/link_security.hpp>

#include <algorithm>
#include <string_view>
#include <utility>

#include <troupe/framework/internal/net/host_lookup.hpp>
#include <troupe/framework/internal/net/socket_transport.hpp>
#include <troupe/framework/internal/net/tls_transport.hpp>
#include <troupe/framework/internal/net/unix_transport.hpp>
#include <troupe/framework/internal/trust/peer_roles.hpp>
#include <troupe/framework/internal/trust/secret_file.hpp>
#include <troupe/framework/internal/words/failing.hpp>

namespace troupe::internal {

namespace {

constexpr std::string_view elsewhere_without_secret =
    " is not on this host: set credentials.secret or credentials.secret_file to the secret of the node there, or use "
    "tls://";

std::expected<std::string, node_error> cookie(const credentials& with) {
  if (!with.cookie_file.empty())
    return read_or_make_cookie(with.cookie_file);
  auto path = default_cookie_file();
  return path ? read_or_make_cookie(*path) : path;
}

/// Plain TCP always uses a secret: a given one, or within one host the cookie.
std::expected<link_security, node_error> security_for_tcp(const address& at, std::span<const stream_endpoint> endpoints,
                                                          const credentials& with, std::shared_ptr<secret_book> secrets,
                                                          const std::string& without) {
  const auto one_host = std::ranges::all_of(endpoints, is_of_this_host);
  const auto is_cookie = secrets->is_empty();
  if (is_cookie) {
    auto secret = one_host ? cookie(with) : bad_option(at.text + without);
    if (!secret)
      return std::unexpected{std::move(secret).error()};
    secrets = secret_book::of(*std::move(secret));
  }
  link_security result{.kind = at.kind, .secrets = std::move(secrets), .is_cookie = is_cookie};
  if (!one_host)
    result.caution = "trusted network only: at " + at.text
                     + " the secret authenticates peers, but does not encrypt or protect messages; use tls:// if "
                       "others have access to the network";
  return result;
}

bool has_files(const tls_options& with) {
  return !with.certificate_file.empty() || !with.key_file.empty() || !with.authority_file.empty();
}

/// The first credential that links over that transport never use; empty if they use all of them.
std::string unused_at(transport_kind kind, const credentials& own) {
  const auto& tls = own.tls;
  const std::pair<std::string_view, bool> of_tls[] = {{"tls.certificate_file", !tls.certificate_file.empty()},
                                                      {"tls.key_file", !tls.key_file.empty()},
                                                      {"tls.authority_file", !tls.authority_file.empty()},
                                                      {"tls.server_name", !tls.server_name.empty()}};
  if (tls.require_client_certificate)
    return "tls.require_client_certificate";
  if (kind == transport_kind::tls)
    return own.cookie_file.empty() ? std::string{} : "cookie_file";
  for (const auto& [name, is_set] : of_tls)
    if (is_set)
      return std::string{name};
  if (kind == transport_kind::tcp)
    return {};
  if (!own.secret.empty())
    return "secret";
  if (!own.secret_file.empty())
    return "secret_file";
  return own.cookie_file.empty() ? std::string{} : "cookie_file";
}

std::string why_unused(transport_kind kind, const std::string& what) {
  if (what == "tls.require_client_certificate")
    return "applies only to the listening end: set it in accepted_links";
  if (kind == transport_kind::tls)
    return "is for plain TCP: remove it, and set secret or secret_file if a certificate does not suffice";
  if (kind == transport_kind::tcp)
    return "has no effect over plain TCP: use tls:// for encrypted links";
  return std::string{"has no effect "}
         + (kind == transport_kind::inproc ? "within a process" : "at a unix socket, which accepts only this user")
         + ": remove it";
}

std::expected<void, node_error> check_tls_files(const tls_options& with) {
  if (!has_files(with))
    return {};
  if (auto context = make_dialing_tls(with); !context)
    return std::unexpected{std::move(context).error()};
  return {};
}

} // namespace

std::expected<void, node_error> check_credentials(const credentials& with) {
  if (auto secrets = secret_book::open(with); !secrets)
    return std::unexpected{std::move(secrets).error()};
  return check_tls_files(with.tls);
}

std::expected<void, node_error> check_listening(const link_options& with) {
  const auto& own = with.credentials;
  if (own.tls.require_client_certificate && own.tls.authority_file.empty())
    return bad_option(
        "credentials.tls.require_client_certificate requires certificates from peers, but no authority is given: set "
        "credentials.tls.authority_file");
  if (auto good = check_roles(with.roles, own.tls); !good)
    return good;
  if (auto secrets = secret_book::open(own, with.roles); !secrets)
    return std::unexpected{std::move(secrets).error()};
  return check_tls_files(own.tls);
}

std::expected<void, node_error> check_dialing(const address& to, const credentials& with, const credentials& own) {
  if (const auto what = unused_at(to.kind, own); !what.empty())
    return bad_option("credentials." + what + ' ' + why_unused(to.kind, what));
  if (auto good = check_credentials(with); !good)
    return good;
  if (to.kind != transport_kind::tcp || !has_numeric_host(to) || !with.secret.empty() || !with.secret_file.empty())
    return {};
  const auto endpoints = resolve(to, {}); // Looks up no name.
  if (endpoints && !std::ranges::all_of(*endpoints, is_of_this_host))
    return bad_option(to.text + std::string{elsewhere_without_secret});
  return {};
}

std::expected<link_security, node_error>
security_for_listening(const address& at, std::span<const stream_endpoint> endpoints, const link_options& options) {
  const auto& with = options.credentials;
  link_security result{.kind = at.kind, .wants_rings = at.wants_rings};
  if (at.kind != transport_kind::tls) // TLS has more specific messages.
    if (auto good = check_listening(options); !good)
      return std::unexpected{std::move(good).error()};
  if (at.kind == transport_kind::unix_socket || at.kind == transport_kind::inproc)
    return result;
  auto secrets = secret_book::open(with, options.roles);
  if (!secrets)
    return std::unexpected{std::move(secrets).error()};
  if (at.kind == transport_kind::tcp)
    return security_for_tcp(at, endpoints, with, *std::move(secrets),
                            " can be reached from other hosts without authentication: set credentials.secret or "
                            "credentials.secret_file of accepted_links, to the same value at all peers; or listen at "
                            "tls://, or at 127.0.0.1 for processes of this host only");
  if (auto good = check_roles(options.roles, with.tls); !good)
    return std::unexpected{std::move(good).error()};
  if (with.tls.certificate_file.empty() || with.tls.key_file.empty())
    return bad_option(at.text
                      + " needs a certificate: set credentials.tls.certificate_file and key_file of accepted_links");
  if (with.tls.require_client_certificate && with.tls.authority_file.empty())
    return bad_option(
        at.text
        + " requires certificates from peers, but no authority is given: set credentials.tls.authority_file of "
          "accepted_links");
  if (!with.tls.require_client_certificate && (*secrets)->is_empty())
    return bad_option(at.text
                      + " would accept any peer: set credentials.tls.require_client_certificate and authority_file of "
                        "accepted_links, or credentials.secret, or both");
  auto context = make_listening_tls(with.tls, any_asks_for_certificate(options.roles));
  if (!context)
    return std::unexpected{std::move(context).error()};
  result.secrets = *std::move(secrets);
  result.tls = *std::move(context);
  return result;
}

std::expected<link_security, node_error> security_for_dialing(const address& to,
                                                              std::span<const stream_endpoint> endpoints,
                                                              const credentials& with,
                                                              std::shared_ptr<secret_book> secrets) {
  link_security result{.kind = to.kind, .wants_rings = to.wants_rings};
  if (to.kind != transport_kind::tls)
    if (auto good = check_tls_files(with.tls); !good)
      return std::unexpected{std::move(good).error()};
  if (to.kind == transport_kind::unix_socket || to.kind == transport_kind::inproc)
    return result;
  if (to.kind == transport_kind::tcp)
    return security_for_tcp(to, endpoints, with, std::move(secrets), std::string{elsewhere_without_secret});
  result.secrets = std::move(secrets);
  auto context = make_dialing_tls(with.tls);
  if (!context)
    return std::unexpected{std::move(context).error()};
  result.tls = *std::move(context);
  result.tls_server = with.tls.server_name.empty() ? to.host : with.tls.server_name;
  return result;
}

std::expected<std::shared_ptr<transport>, node_error>
make_transport(stream_socket socket, const link_security& security, std::shared_ptr<handshake_turns> turns) {
  if (security.kind == transport_kind::tls)
    return make_tls_transport(std::move(socket), security.tls, security.tls_server, std::move(turns));
  if (security.kind == transport_kind::unix_socket) {
    if (auto same = check_same_user(socket); !same)
      return std::unexpected{std::move(same).error()};
    return make_unix_transport(std::move(socket));
  }
  return make_socket_transport(std::move(socket));
}

} // namespace troupe::internal
