// Turns SQLite's failures into errors of a directory.
#pragma once

#include <troupe/framework/cluster/directory_errc.hpp>
#include <troupe/framework/cluster/internal/host/sqlite.hpp>

#include <chrono>
#include <string>

namespace troupe::cluster_directories {

/// `path` is the database file. The text tells the caller what to do.
[[nodiscard]] directory_error error_of(const sqlite_failure& failure, const std::string& path,
                                       std::chrono::milliseconds timeout);

/// Whether another connection held a lock for too long.
[[nodiscard]] bool is_busy(const sqlite_failure& failure);

/// Whether the database has as many pages as it may have.
[[nodiscard]] bool is_out_of_pages(const sqlite_failure& failure);

[[nodiscard]] directory_error closed_error(const std::string& path);
[[nodiscard]] directory_error moved_error(const std::string& path);
[[nodiscard]] directory_error foreign_error(const std::string& path);
[[nodiscard]] directory_error newer_error(const std::string& path);
/// Of a write-ahead log that another process keeps from being written back.
[[nodiscard]] directory_error long_log_error(const std::string& path, int pages);

} // namespace troupe::cluster_directories
