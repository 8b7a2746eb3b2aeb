// Looking at stores from outside: which exist, their contents, and the remains of dead processes.
#pragma once

#include <troupe/base/export.hpp>
#include <troupe/store/store_error.hpp>
#include <troupe/store/summary.hpp>

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <expected>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace troupe::store {

/// A store of this user with files in a directory.
struct found_store {
  std::string name;
  std::uint32_t layout_version = 0;
  bool is_of_this_boot = false;
  bool is_of_this_layout = false;  // Otherwise this program knows no more about it.
  std::optional<pid_t> in_use_by;  // One attached process; nullopt if all are dead.
  std::size_t memory_bytes = 0;    // Size of its files in the directory.
  std::filesystem::path directory; // Folder of the files.
  std::string files;               // Common prefix of the file names.
};

/// All stores, sorted by name.
[[nodiscard]] TROUPE_EXPORT std::vector<found_store> find_stores(const std::filesystem::path& directory = "/dev/shm");

/// Summary of the store `name`. If the store is in use, as `object_store::summary`; else a summary, with all rows, of
/// what its dead processes have left; nothing is cleaned up. Creates no store. Fails with `not_found` if there is none,
/// and as `open` does.
[[nodiscard]] TROUPE_EXPORT std::expected<store_summary, store_error>
inspect(const std::string& name, const std::filesystem::path& directory = "/dev/shm", const summary_query& what = {});

/// Cleans up after dead processes: reaps as `object_store::reap` does if the store is in use, else removes the store.
/// Returns the number of reaped processes, or nullopt if the store is gone. Fails with `not_found`, as `open` does, and
/// with `layout_mismatch` if a directory has the name of one of the store's files; that directory stays.
[[nodiscard]] TROUPE_EXPORT std::expected<std::optional<std::size_t>, store_error>
clean(const std::string& name, const std::filesystem::path& directory = "/dev/shm");

/// The result of cleaning one store.
struct cleaned_store {
  found_store store;
  bool is_removed = false; // False: it is in use, and what dead processes held in it is free.
  std::string problem;     // Why the store is not clean; empty if it is.
};

/// Cleans up after dead processes in all of this user's stores. Removes stores that no process has open, including
/// those of other boots and layout versions.
[[nodiscard]] TROUPE_EXPORT std::vector<cleaned_store> clean_all(const std::filesystem::path& directory = "/dev/shm");

} // namespace troupe::store
