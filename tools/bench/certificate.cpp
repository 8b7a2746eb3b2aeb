#include "bench/certificate.hpp"

#include <cstdio>
#include <memory>

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <fcntl.h>
#include <unistd.h>

namespace troupe::tools {

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
using file = std::unique_ptr<std::FILE, freed_by<std::fclose>>;

[[nodiscard]] bool extend(X509* made, int what, const char* value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, made, made, nullptr, nullptr, 0);
  std::unique_ptr<X509_EXTENSION, freed_by<X509_EXTENSION_free>> extension{
      X509V3_EXT_conf_nid(nullptr, &context, what, value)};
  return extension != nullptr && X509_add_ext(made, extension.get(), -1) == 1;
}

[[nodiscard]] bool fill(X509* made, EVP_PKEY* key) {
  constexpr long day = 86'400;
  auto* const name = X509_get_subject_name(made);
  return X509_set_version(made, X509_VERSION_3) == 1 && ASN1_INTEGER_set(X509_get_serialNumber(made), 1) == 1
         && X509_gmtime_adj(X509_getm_notBefore(made), -day) != nullptr
         && X509_gmtime_adj(X509_getm_notAfter(made), day) != nullptr && X509_set_pubkey(made, key) == 1
         && X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>("troupe bench"),
                                       -1, -1, 0)
                == 1
         && X509_set_issuer_name(made, name) == 1 && extend(made, NID_basic_constraints, "critical,CA:TRUE")
         && extend(made, NID_subject_alt_name, "IP:127.0.0.1") && X509_sign(made, key, EVP_sha256()) > 0;
}

[[nodiscard]] file create(const std::filesystem::path& path) {
  const auto descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  return file{descriptor < 0 ? nullptr : ::fdopen(descriptor, "w")};
}

} // namespace

std::expected<void, std::string> write_certificate(const std::filesystem::path& certificate_file,
                                                   const std::filesystem::path& key_file) {
  const private_key key{EVP_EC_gen("P-256")};
  const certificate made{X509_new()};
  if (!key || !made || !fill(made.get(), key.get()))
    return std::unexpected{"cannot make a certificate for TLS"};
  const auto to_certificate = create(certificate_file);
  const auto to_key = create(key_file);
  if (!to_certificate || !to_key || PEM_write_X509(to_certificate.get(), made.get()) != 1
      || PEM_write_PrivateKey(to_key.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr) != 1)
    return std::unexpected{"cannot write " + certificate_file.string()};
  return {};
}

} // namespace troupe::tools
