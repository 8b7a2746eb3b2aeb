#include <troupe/framework/internal/trust/tls_context.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <string_view>
#include <utility>

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <unistd.h>

#include <troupe/framework/internal/words/failing.hpp>

namespace troupe::internal {

namespace {

// The largest certificate chain that this end keeps for a peer that is not admitted.
constexpr long chain_bytes_max = 16 * 1024;

// The largest record that this end writes until the peer is admitted; OpenSSL keeps a buffer of this size.
constexpr long first_record_bytes = 2 * 1024;

/// Returns the latest of OpenSSL's errors and clears its list.
std::string openssl_reason() {
  auto code = ::ERR_peek_last_error();
  const auto* reason = ::ERR_reason_error_string(code);
  ::ERR_clear_error();
  return reason != nullptr ? reason : "unknown reason";
}

std::expected<void, node_error> readable(const char* option, const std::string& file) {
  if (::access(file.c_str(), R_OK) != 0)
    return bad_option(std::string{"credentials.tls."} + option + " \"" + file
                      + "\" cannot be read: " + std::strerror(errno));
  return {};
}

/// Makes an encrypted key an error; OpenSSL would ask for the passphrase at the terminal.
int no_passphrase(char*, int, int, void*) {
  return 0;
}

std::expected<tls_context, node_error> make_context(const SSL_METHOD* method) {
  tls_context context{::SSL_CTX_new(method), ::SSL_CTX_free};
  if (!context || ::SSL_CTX_set_min_proto_version(context.get(), TLS1_3_VERSION) != 1)
    return bad_option("OpenSSL offers no TLS 1.3: " + openssl_reason());
  // Every link is a session of its own: an earlier session admits nobody.
  ::SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_OFF);
  ::SSL_CTX_set_num_tickets(context.get(), 0);
  ::SSL_CTX_set_mode(context.get(),
                     SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  ::SSL_CTX_set_max_cert_list(context.get(), chain_bytes_max);
  ::SSL_CTX_set_default_passwd_cb(context.get(), no_passphrase);
  return context;
}

std::expected<void, node_error> use_certificate(ssl_ctx_st* context, const tls_options& options) {
  if (options.certificate_file.empty() != options.key_file.empty())
    return bad_option("credentials.tls.certificate_file and key_file belong together; one of them is empty");
  if (options.certificate_file.empty())
    return {};
  if (auto there = readable("certificate_file", options.certificate_file); !there)
    return there;
  if (auto there = readable("key_file", options.key_file); !there)
    return there;
  if (::SSL_CTX_use_certificate_chain_file(context, options.certificate_file.c_str()) != 1)
    return bad_option("credentials.tls.certificate_file \"" + options.certificate_file
                      + "\" holds no usable certificate in PEM: " + openssl_reason());
  if (::SSL_CTX_use_PrivateKey_file(context, options.key_file.c_str(), SSL_FILETYPE_PEM) != 1)
    return bad_option("credentials.tls.key_file \"" + options.key_file
                      + "\" holds no usable key in PEM without a passphrase, or a key of another certificate: "
                      + openssl_reason());
  if (::SSL_CTX_check_private_key(context) != 1)
    return bad_option("credentials.tls.key_file \"" + options.key_file
                      + "\" is not the certificate's key: " + openssl_reason());
  return {};
}

std::expected<void, node_error> use_authorities(ssl_ctx_st* context, const tls_options& options) {
  if (options.authority_file.empty())
    return {};
  if (auto there = readable("authority_file", options.authority_file); !there)
    return there;
  if (::SSL_CTX_load_verify_file(context, options.authority_file.c_str()) != 1)
    return bad_option("credentials.tls.authority_file \"" + options.authority_file
                      + "\" holds no certificates in PEM: " + openssl_reason());
  return {};
}

bool is_ip_address(const std::string& text) {
  in6_addr any;
  return ::inet_pton(AF_INET, text.c_str(), &any) == 1 || ::inet_pton(AF_INET6, text.c_str(), &any) == 1;
}

/// Appends the text with its kind. A text with a NUL or another control character may be meant to be read in two ways.
void append_name(std::vector<std::string>& to, std::string_view kind, const ASN1_STRING* text) {
  unsigned char* utf8 = nullptr;
  const auto size = ::ASN1_STRING_to_UTF8(&utf8, text);
  if (size < 0)
    return;
  const std::string_view bytes{reinterpret_cast<const char*>(utf8), static_cast<std::size_t>(size)};
  const auto is_control = [](char each) { return (each >= 0 && each < ' ') || each == '\x7f'; };
  if (std::ranges::none_of(bytes, is_control))
    to.push_back(std::string{kind} + std::string{bytes});
  ::OPENSSL_free(utf8);
}

void append_subject(std::vector<std::string>& to, const X509* certificate, int field, std::string_view kind) {
  const auto* subject = ::X509_get_subject_name(certificate);
  for (int at = ::X509_NAME_get_index_by_NID(subject, field, -1); at >= 0;
       at = ::X509_NAME_get_index_by_NID(subject, field, at))
    append_name(to, kind, ::X509_NAME_ENTRY_get_data(::X509_NAME_get_entry(subject, at)));
}

void append_alternatives(std::vector<std::string>& to, const X509* certificate) {
  const std::unique_ptr<GENERAL_NAMES, void (*)(GENERAL_NAMES*)> names{
      static_cast<GENERAL_NAMES*>(::X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)),
      ::GENERAL_NAMES_free};
  for (int i = 0; names && i < sk_GENERAL_NAME_num(names.get()); ++i) {
    const auto* name = sk_GENERAL_NAME_value(names.get(), i);
    if (name->type == GEN_DNS)
      append_name(to, "DNS:", name->d.dNSName);
    else if (name->type == GEN_URI)
      append_name(to, "URI:", name->d.uniformResourceIdentifier);
  }
}

} // namespace

std::vector<std::string> certificate_names_of(const ssl_st* session) {
  std::vector<std::string> names;
  const std::unique_ptr<X509, void (*)(X509*)> certificate{::SSL_get1_peer_certificate(session), ::X509_free};
  if (!certificate || ::SSL_get_verify_result(session) != X509_V_OK)
    return names;
  append_alternatives(names, certificate.get());
  append_subject(names, certificate.get(), NID_commonName, "CN=");
  append_subject(names, certificate.get(), NID_organizationalUnitName, "OU=");
  return names;
}

std::expected<tls_context, node_error> make_listening_tls(const tls_options& options, bool asks_for_certificate) {
  auto context = make_context(::TLS_server_method());
  if (!context)
    return context;
  if (auto used = use_certificate(context->get(), options); !used)
    return std::unexpected{used.error()};
  if (auto used = use_authorities(context->get(), options); !used)
    return std::unexpected{used.error()};
  int verification = asks_for_certificate ? SSL_VERIFY_PEER : SSL_VERIFY_NONE;
  if (options.require_client_certificate)
    verification = SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT;
  ::SSL_CTX_set_verify(context->get(), verification, nullptr);
  return context;
}

std::expected<tls_context, node_error> make_dialing_tls(const tls_options& options) {
  auto context = make_context(::TLS_client_method());
  if (!context)
    return context;
  if (auto used = use_certificate(context->get(), options); !used)
    return std::unexpected{used.error()};
  if (auto used = use_authorities(context->get(), options); !used)
    return std::unexpected{used.error()};
  if (options.authority_file.empty() && ::SSL_CTX_set_default_verify_paths(context->get()) != 1)
    return bad_option("the system's certificate authorities cannot be read: " + openssl_reason());
  ::SSL_CTX_set_verify(context->get(), SSL_VERIFY_PEER, nullptr);
  return context;
}

ssl_st* make_tls_session(const tls_context& context, const std::string& server) {
  std::unique_ptr<ssl_st, void (*)(ssl_st*)> session{::SSL_new(context.get()), ::SSL_free};
  if (!session || ::SSL_set_max_send_fragment(session.get(), first_record_bytes) != 1)
    throw std::bad_alloc{};
  if (server.empty())
    return session.release();
  auto* expected = ::SSL_get0_param(session.get());
  ::X509_VERIFY_PARAM_set_hostflags(expected, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  int done = 0;
  if (is_ip_address(server))
    done = ::X509_VERIFY_PARAM_set1_ip_asc(expected, server.c_str());
  else if (::X509_VERIFY_PARAM_set1_host(expected, server.data(), server.size()) == 1)
    done = static_cast<int>(::SSL_set_tlsext_host_name(session.get(), server.c_str()));
  if (done != 1)
    throw std::bad_alloc{}; // Without the expected name every certificate would pass.
  return session.release();
}

} // namespace troupe::internal
