// The rows of a directory's database.
#pragma once

#include <troupe/framework/cluster/directory.hpp>
#include <troupe/framework/cluster/internal/host/process_identity.hpp>
#include <troupe/framework/cluster/internal/host/sqlite.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::cluster_directories {

/// The one row that says how far the directory has come.
struct head_record {
  std::string identity;           // Random, made with the file.
  std::string boot;               // Of the host, when a process last found that it was started anew.
  std::uint64_t revision = 1;     // Of the last change.
  std::uint64_t reserved = 1;     // On the disk for certain: revisions up to here may have been used.
  std::uint64_t compacted = 0;    // Changes up to this revision are no longer kept.
  std::uint64_t change_count = 0; // Of the changes that are kept.
  std::uint64_t change_bytes = 0;

  friend bool operator==(const head_record&, const head_record&) = default;
};

struct lease_record {
  std::uint64_t id = 0;
  std::uint64_t ends = 0; // The last boottime_ms() of its time.
  std::uint64_t time_ms = 0;
  process_identity owner;
};

/// Of each lease, the process that granted it.
[[nodiscard]] std::vector<process_identity> owners_of(const std::vector<lease_record>& leases);

struct revision_size {
  std::uint64_t revision = 0;
  std::uint64_t changes = 0;
  std::uint64_t bytes = 0;
};

/// Reads and writes the rows of one database by one connection. The caller begins and ends transactions.
///
/// Every member throws sqlite_failure. Threads: those of the connection.
class records {
public:
  /// Requires: the tables exist.
  explicit records(sqlite_connection& of);

  [[nodiscard]] head_record head();
  void set_head(const head_record& head);

  [[nodiscard]] std::optional<directory_entry> entry(std::string_view key);
  [[nodiscard]] std::vector<directory_entry> entries(std::string_view prefix);
  [[nodiscard]] std::vector<std::string> keys_of_lease(std::uint64_t lease);
  void put_entry(const directory_entry& entry);
  void remove_entry(std::string_view key);

  [[nodiscard]] std::vector<lease_record> leases();
  void add_lease(const lease_record& lease);
  void set_lease_end(std::uint64_t lease, std::uint64_t ends);
  void remove_lease(std::uint64_t lease);

  void add_change(std::uint64_t revision, std::uint64_t place, const directory_change& change);
  /// Calls `visit` with the changes below `prefix` of the revisions `first` to `last`, in order, until it returns
  /// false.
  void each_change(std::string_view prefix, std::uint64_t first, std::uint64_t last,
                   const std::function<bool(directory_change)>& visit);
  /// Calls `visit` with the size of each revision that has changes, in order, until it returns false.
  void each_revision(const std::function<bool(const revision_size&)>& visit);
  void forget_changes(std::uint64_t up_to_revision);

  /// What a change counts towards the bound on kept changes.
  [[nodiscard]] static std::uint64_t bytes_of(const directory_change& change);

private:
  sqlite_statement read_head_;
  sqlite_statement write_head_;
  sqlite_statement read_entry_;
  sqlite_statement read_entries_;
  sqlite_statement read_keys_of_lease_;
  sqlite_statement write_entry_;
  sqlite_statement delete_entry_;
  sqlite_statement read_leases_;
  sqlite_statement write_lease_;
  sqlite_statement write_lease_end_;
  sqlite_statement delete_lease_;
  sqlite_statement write_change_;
  sqlite_statement read_changes_;
  sqlite_statement read_revisions_;
  sqlite_statement delete_changes_;
};

} // namespace troupe::cluster_directories
