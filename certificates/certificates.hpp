// Certificates that tests and measurements make for themselves.
#pragma once

#include <chrono>
#include <expected>
#include <filesystem>
#include <string>

namespace troupe::certificates {

/// Names of two PEM files.
struct files {
  std::filesystem::path certificate;
  std::filesystem::path key;
};

struct request {
  std::string name;             ///< Whose it is.
  std::string names = {};       ///< Where it counts, as OpenSSL writes them: "DNS:localhost,IP:127.0.0.1".
  bool is_authority = false;    ///< Whether it signs others.
  std::chrono::seconds since{}; ///< For how long it has been good already.
  std::chrono::seconds until{}; ///< For how long it will be good; negative: it is not any more.
};

/// Makes a key, and a certificate that signs itself. No other user may read the files. Fails with a text.
[[nodiscard]] std::expected<void, std::string> make_self_signed(const files& made, const request& what);

/// The same, signed by another.
[[nodiscard]] std::expected<void, std::string> make_signed_by(const files& authority, const files& made,
                                                              const request& what);

} // namespace troupe::certificates
