// Certificates made for a test, in a folder that is removed with the object that made it.
#pragma once

#include <chrono>
#include <string>

namespace troupe::tests {

/// Names of two PEM files.
struct certificate_files {
  std::string certificate;
  std::string key;
};

class certificate_folder {
public:
  certificate_folder();
  ~certificate_folder();
  certificate_folder(const certificate_folder&) = delete;
  certificate_folder& operator=(const certificate_folder&) = delete;

  /// Makes a certificate that signs others.
  certificate_files authority(const std::string& name);

  /// Makes a certificate for `names`, in OpenSSL's notation ("DNS:localhost,IP:127.0.0.1"), valid for `good_until` from
  /// now.
  certificate_files issue(const certificate_files& authority, const std::string& name, const std::string& names,
                          std::chrono::seconds good_until = std::chrono::hours(1));

private:
  std::string folder_;
};

} // namespace troupe::tests
