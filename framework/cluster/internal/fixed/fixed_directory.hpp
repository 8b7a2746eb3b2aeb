// Directories of kind static://FILE.
#pragma once

#include <troupe/framework/cluster/directory.hpp>

#include <expected>
#include <memory>
#include <string>
#include <string_view>

namespace troupe::cluster_directories {

/// Opens the list of members in the file at `path`. Fails with `bad_address`, `refused` and `system_failure`.
[[nodiscard]] std::expected<std::shared_ptr<directory>, directory_error>
open_fixed_directory(std::string_view path, const directory_options& options);

} // namespace troupe::cluster_directories
