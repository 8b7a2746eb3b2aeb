// The text by which a directory is named.
#pragma once

#include <troupe/framework/cluster/directory_errc.hpp>

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::cluster_directories {

enum class directory_kind : std::uint8_t { etcd, host, fixed, dns, dns_tls };

/// The address of a directory, in its parts.
struct directory_address {
  directory_kind kind = directory_kind::etcd;
  std::string rest;                   // What follows "://", as it was given.
  std::vector<std::string> endpoints; // For etcd: HOST:PORT of each, without repetitions.
  std::string prefix;                 // For etcd: PREFIX, without a slash at its ends.
};

/// Fails with `bad_address`.
[[nodiscard]] std::expected<directory_address, directory_error> read_directory_address(std::string_view text);

} // namespace troupe::cluster_directories
