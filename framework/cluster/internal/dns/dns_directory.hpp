// Directories of kind dns://NAME[:PORT] and dns+tls://NAME[:PORT].
#pragma once

#include <troupe/framework/cluster/directory.hpp>

#include <expected>
#include <memory>
#include <string_view>

namespace troupe::cluster_directories {

/// Opens the members that DNS names. `rest` is NAME[:PORT]; `scheme` is that of the members' addresses, "tcp" or "tls".
/// Fails with `bad_address` and `unavailable`.
[[nodiscard]] std::expected<std::shared_ptr<directory>, directory_error>
open_dns_directory(std::string_view rest, std::string_view scheme, const directory_options& options);

} // namespace troupe::cluster_directories
