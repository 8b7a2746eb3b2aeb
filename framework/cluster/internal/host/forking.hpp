// SQLite does not work on both sides of a fork: the child inherits what the library knows of the parent's locks.
#pragma once

#include <optional>

#include <sys/types.h>

namespace troupe::cluster_directories {

/// Counts an open database while it lives.
///
/// Threads: any.
class open_database_count {
public:
  open_database_count();
  open_database_count(const open_database_count&) = delete;
  open_database_count& operator=(const open_database_count&) = delete;
  ~open_database_count();

  /// The process that had a database open when it forked this one; then this one must not use SQLite for directories.
  /// Otherwise nullopt.
  [[nodiscard]] static std::optional<pid_t> forked_from();
};

} // namespace troupe::cluster_directories
