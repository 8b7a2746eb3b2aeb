// Secrets in files.
#pragma once

#include <expected>
#include <string>
#include <vector>

#include <troupe/framework/node_errc.hpp>

namespace troupe::internal {

inline constexpr std::size_t secret_bytes_min = 16;
inline constexpr std::size_t secret_bytes_max = 4096;

/// The most secrets of one file: the one that is used, and the one that it replaces or that replaces it.
inline constexpr std::size_t secrets_per_file_max = 2;

/// Reads secrets from a file that belongs to this user or root and that no other user may read: one on each line that
/// is not empty, at least one. If the file has other bytes than printable ASCII, all of it is one secret. Fails with
/// `bad_option`; the text says what to do.
[[nodiscard]] std::expected<std::vector<std::string>, node_error> read_secret_file(const std::string& path);

/// The default path of the cookie. Fails with `bad_option` if the environment names no directory.
[[nodiscard]] std::expected<std::string, node_error> default_cookie_file();

/// Reads the cookie, 256 random bits as 64 hexadecimal digits. If there is none, creates it. Processes that do this at
/// the same time get the same cookie. Fails with `bad_option`; the text says what to do.
[[nodiscard]] std::expected<std::string, node_error> read_or_make_cookie(const std::string& path);

} // namespace troupe::internal
