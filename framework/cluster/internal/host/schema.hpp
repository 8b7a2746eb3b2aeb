// The tables of a directory's database, with their version.
#pragma once

#include <troupe/framework/cluster/internal/host/sqlite.hpp>

#include <cstdint>

namespace troupe::cluster_directories {

/// Version 1. Changes need a new number, since processes of two versions may open one file.
inline constexpr std::uint32_t schema_version = 1;

enum class schema_state : std::uint8_t {
  none,    // An empty file.
  ready,   // Tables of this version.
  foreign, // Another program's database.
  newer,   // Tables of a later version, which this program does not know.
};

/// Throws sqlite_failure.
[[nodiscard]] schema_state schema_of(sqlite_connection& of);

/// Makes the tables. Requires: an empty file, and a transaction. Throws sqlite_failure.
void make_tables(sqlite_connection& of);

} // namespace troupe::cluster_directories
