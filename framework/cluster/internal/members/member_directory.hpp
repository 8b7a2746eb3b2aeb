// Read-only directories.
#pragma once

#include <troupe/framework/cluster/directory.hpp>
#include <troupe/framework/cluster/internal/members/member_loop.hpp>

#include <expected>
#include <memory>

namespace troupe::cluster_directories {

/// Opens a directory whose entries are the members that `source` finds, and looks at them from a thread of its own.
/// Fails as the first look does.
[[nodiscard]] std::expected<std::shared_ptr<directory>, directory_error>
open_member_directory(member_directory_settings settings, std::unique_ptr<member_source> source);

} // namespace troupe::cluster_directories
