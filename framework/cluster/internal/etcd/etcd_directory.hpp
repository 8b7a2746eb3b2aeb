// Directories of kind etcd://HOST:PORT[,HOST:PORT...]/PREFIX.
#pragma once

#include <troupe/framework/cluster/directory.hpp>
#include <troupe/framework/cluster/internal/address/directory_address.hpp>

#include <expected>
#include <memory>

namespace troupe::cluster_directories {

/// Fails with `bad_address`, `refused`, `version_mismatch`, `unavailable` and
/// `system_failure`.
[[nodiscard]] std::expected<std::shared_ptr<directory>, directory_error>
open_etcd_directory(const directory_address& address, const directory_options& options);

} // namespace troupe::cluster_directories
