// Secrets that lie in files.
#pragma once

#include <expected>
#include <string>

#include <troupe/framework/node_errc.hpp>

namespace troupe::internal {

inline constexpr std::size_t secret_bytes_min = 16;
inline constexpr std::size_t secret_bytes_max = 4096;

/// Reads a secret that its owner, this user or root, keeps to himself. Fails with `bad_option`, saying what to do.
[[nodiscard]] std::expected<std::string, node_error> read_secret_file(const std::string& path);

/// Where the cookie lies unless an option says otherwise. Fails with `bad_option` when the environment names no place.
[[nodiscard]] std::expected<std::string, node_error> default_cookie_file();

/// Reads the cookie, 256 random bits as 64 hexadecimal digits, and makes it first where there is none. Processes that
/// come at the same time get the same. Fails with `bad_option`, saying what to do.
[[nodiscard]] std::expected<std::string, node_error> read_or_make_cookie(const std::string& path);

} // namespace troupe::internal
