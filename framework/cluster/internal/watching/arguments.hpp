// Checks the arguments of a directory's calls against the bounds that all kinds share.
#pragma once

#include <troupe/framework/cluster/directory.hpp>

#include <chrono>
#include <expected>
#include <span>
#include <string_view>

namespace troupe::cluster_directories {

/// Each fails with `invalid_argument`; the text names the value and the bound.
[[nodiscard]] std::expected<void, directory_error> check_prefix(std::string_view prefix);
[[nodiscard]] std::expected<void, directory_error> check_lease_time(std::chrono::milliseconds time,
                                                                    std::chrono::milliseconds longest);
[[nodiscard]] std::expected<void, directory_error> check_commit(std::span<const directory_condition> conditions,
                                                                std::span<const directory_write> writes);

} // namespace troupe::cluster_directories
