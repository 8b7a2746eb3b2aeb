// Directories of kind host://NAME.
#pragma once

#include <troupe/framework/cluster/directory.hpp>
#include <troupe/framework/cluster/internal/host/host_database.hpp>

#include <expected>
#include <memory>
#include <string>
#include <string_view>

namespace troupe::cluster_directories {

/// Opens the directory `name` of this user on this host. Fails with `bad_address`, `refused`, `version_mismatch`,
/// `busy`, `full` and `system_failure`.
[[nodiscard]] std::expected<std::shared_ptr<directory>, directory_error>
open_host_directory(std::string_view name, const directory_options& options);

/// What open_host_directory() opens: the settings for the directory `name`.
[[nodiscard]] std::expected<host_settings, directory_error> settings_of_host(std::string_view name,
                                                                             const directory_options& options);

/// Opens the directory with these settings.
[[nodiscard]] std::expected<std::shared_ptr<directory>, directory_error> open_host_file(std::string shown_address,
                                                                                        host_settings settings);

} // namespace troupe::cluster_directories
