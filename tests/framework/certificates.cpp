#include "certificates.hpp"

#include <atomic>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <stdexcept>

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>
#include <unistd.h>

namespace troupe::tests {

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

void must(bool done) {
  if (!done)
    throw std::runtime_error("OpenSSL cannot make a certificate");
}

file open(const std::string& path, const char* mode) {
  file opened{std::fopen(path.c_str(), mode)};
  must(opened != nullptr);
  return opened;
}

certificate blank(const std::string& name, EVP_PKEY* key, std::chrono::seconds good_until) {
  certificate made{X509_new()};
  must(X509_set_version(made.get(), X509_VERSION_3) == 1);
  std::uint64_t serial = 0;
  must(RAND_bytes(reinterpret_cast<unsigned char*>(&serial), sizeof(serial)) == 1);
  must(ASN1_INTEGER_set_uint64(X509_get_serialNumber(made.get()), serial >> 1) == 1);
  X509_gmtime_adj(X509_getm_notBefore(made.get()), -7200);
  X509_gmtime_adj(X509_getm_notAfter(made.get()), static_cast<long>(good_until.count()));
  must(X509_set_pubkey(made.get(), key) == 1);
  must(X509_NAME_add_entry_by_txt(X509_get_subject_name(made.get()), "CN", MBSTRING_ASC,
                                  reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0)
       == 1);
  return made;
}

void extend(X509* made, X509* issuer, int what, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, made, nullptr, nullptr, 0);
  std::unique_ptr<X509_EXTENSION, freed_by<X509_EXTENSION_free>> extension{
      X509V3_EXT_conf_nid(nullptr, &context, what, value.c_str())};
  must(extension != nullptr && X509_add_ext(made, extension.get(), -1) == 1);
}

void save(const certificate_files& to, X509* made, EVP_PKEY* key) {
  must(PEM_write_X509(open(to.certificate, "w").get(), made) == 1);
  must(PEM_write_PrivateKey(open(to.key, "w").get(), key, nullptr, nullptr, 0, nullptr, nullptr) == 1);
}

} // namespace

certificate_folder::certificate_folder() {
  static std::atomic<int> counter{0};
  folder_ = testing::TempDir() + "troupe-certificates-" + std::to_string(::getpid()) + '-' + std::to_string(counter++);
  std::filesystem::create_directory(folder_);
}

certificate_folder::~certificate_folder() {
  std::filesystem::remove_all(folder_);
}

certificate_files certificate_folder::authority(const std::string& name) {
  certificate_files result{folder_ + '/' + name + ".pem", folder_ + '/' + name + ".key"};
  private_key key{EVP_EC_gen("P-256")};
  auto made = blank(name, key.get(), std::chrono::hours(1));
  must(X509_set_issuer_name(made.get(), X509_get_subject_name(made.get())) == 1);
  extend(made.get(), made.get(), NID_basic_constraints, "critical,CA:TRUE");
  extend(made.get(), made.get(), NID_subject_key_identifier, "hash");
  must(X509_sign(made.get(), key.get(), EVP_sha256()) > 0);
  save(result, made.get(), key.get());
  return result;
}

certificate_files certificate_folder::issue(const certificate_files& authority, const std::string& name,
                                            const std::string& names, std::chrono::seconds good_until) {
  certificate_files result{folder_ + '/' + name + ".pem", folder_ + '/' + name + ".key"};
  certificate issuer{PEM_read_X509(open(authority.certificate, "r").get(), nullptr, nullptr, nullptr)};
  private_key issuer_key{PEM_read_PrivateKey(open(authority.key, "r").get(), nullptr, nullptr, nullptr)};
  must(issuer && issuer_key);
  private_key key{EVP_EC_gen("P-256")};
  auto made = blank(name, key.get(), good_until);
  must(X509_set_issuer_name(made.get(), X509_get_subject_name(issuer.get())) == 1);
  extend(made.get(), issuer.get(), NID_basic_constraints, "critical,CA:FALSE");
  extend(made.get(), issuer.get(), NID_subject_alt_name, names);
  must(X509_sign(made.get(), issuer_key.get(), EVP_sha256()) > 0);
  save(result, made.get(), key.get());
  return result;
}

} // namespace troupe::tests
