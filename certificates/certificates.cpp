#include "certificates.hpp"

#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>

#include <fcntl.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>
#include <unistd.h>

namespace troupe::certificates {

namespace {

template <auto Free>
struct freed_by {
  template <class T>
  void operator()(T* what) const {
    Free(what);
  }
};
using certificate = std::unique_ptr<X509, freed_by<X509_free>>;
using private_key = std::unique_ptr<EVP_PKEY, freed_by<EVP_PKEY_free>>;
using stream = std::unique_ptr<std::FILE, freed_by<std::fclose>>;

/// The certificate and the key by which others are signed. Both stay their owners'.
struct signer {
  X509* certificate;
  EVP_PKEY* key;
};

[[nodiscard]] bool extend(X509* made, X509* issuer, int what, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, made, nullptr, nullptr, 0);
  const std::unique_ptr<X509_EXTENSION, freed_by<X509_EXTENSION_free>> extension{
      X509V3_EXT_conf_nid(nullptr, &context, what, value.c_str())};
  return extension != nullptr && X509_add_ext(made, extension.get(), -1) == 1;
}

[[nodiscard]] bool has_random_number(X509* made) {
  std::uint64_t number = 0;
  return RAND_bytes(reinterpret_cast<unsigned char*>(&number), sizeof(number)) == 1
         && ASN1_INTEGER_set_uint64(X509_get_serialNumber(made), number >> 1) == 1;
}

[[nodiscard]] bool fill(X509* made, EVP_PKEY* key, const request& what, const signer& by) {
  const auto* const name = reinterpret_cast<const unsigned char*>(what.name.c_str());
  return X509_set_version(made, X509_VERSION_3) == 1 && has_random_number(made)
         && X509_gmtime_adj(X509_getm_notBefore(made), static_cast<long>(-what.since.count())) != nullptr
         && X509_gmtime_adj(X509_getm_notAfter(made), static_cast<long>(what.until.count())) != nullptr
         && X509_set_pubkey(made, key) == 1
         && X509_NAME_add_entry_by_txt(X509_get_subject_name(made), "CN", MBSTRING_ASC, name, -1, -1, 0) == 1
         && X509_set_issuer_name(made, X509_get_subject_name(by.certificate)) == 1
         && extend(made, by.certificate, NID_basic_constraints,
                   what.is_authority ? "critical,CA:TRUE" : "critical,CA:FALSE")
         && (!what.is_authority || extend(made, by.certificate, NID_subject_key_identifier, "hash"))
         && (what.names.empty() || extend(made, by.certificate, NID_subject_alt_name, what.names))
         && X509_sign(made, by.key, EVP_sha256()) > 0;
}

[[nodiscard]] stream open(const std::filesystem::path& path) {
  return stream{std::fopen(path.c_str(), "re")};
}

[[nodiscard]] stream create(const std::filesystem::path& path) {
  const auto descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  return stream{descriptor < 0 ? nullptr : ::fdopen(descriptor, "w")};
}

/// `by`: itself where there is nobody.
[[nodiscard]] std::expected<void, std::string> make(const files& to, const request& what, std::optional<signer> by) {
  const private_key key{EVP_EC_gen("P-256")};
  const certificate made{X509_new()};
  if (!key || !made || !fill(made.get(), key.get(), what, by.value_or(signer{made.get(), key.get()})))
    return std::unexpected{"cannot make a certificate for TLS"};
  const auto to_certificate = create(to.certificate);
  const auto to_key = create(to.key);
  if (!to_certificate || !to_key || PEM_write_X509(to_certificate.get(), made.get()) != 1
      || PEM_write_PrivateKey(to_key.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr) != 1)
    return std::unexpected{"cannot write " + to.certificate.string()};
  return {};
}

} // namespace

std::expected<void, std::string> make_self_signed(const files& made, const request& what) {
  return make(made, what, std::nullopt);
}

std::expected<void, std::string> make_signed_by(const files& authority, const files& made, const request& what) {
  const auto from_certificate = open(authority.certificate);
  const auto from_key = open(authority.key);
  if (!from_certificate || !from_key)
    return std::unexpected{"cannot read " + authority.certificate.string()};
  const certificate issuer{PEM_read_X509(from_certificate.get(), nullptr, nullptr, nullptr)};
  const private_key key{PEM_read_PrivateKey(from_key.get(), nullptr, nullptr, nullptr)};
  if (!issuer || !key)
    return std::unexpected{"no certificate is in " + authority.certificate.string()};
  return make(made, what, signer{issuer.get(), key.get()});
}

} // namespace troupe::certificates
