// Examines stores from outside: which exist, their contents, and the remains of dead processes. All functions may be
// called from any thread.
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

/// A store of this user, open or left by dead processes, with files in a directory.
struct found_store {
  std::string name;
  std::uint32_t layout_version = 0;
  bool is_of_this_boot = false;
  bool is_of_this_layout = false;  // Of this boot and this program's layout version; else inspect() cannot read it.
  std::optional<pid_t> in_use_by;  // One attached process, 0 if it is unknown which; nullopt if all are dead.
  std::size_t memory_bytes = 0;    // Allocated bytes of the files in `directory`.
  std::filesystem::path directory; // Folder of the files.
  std::string files;               // Common prefix of the file names.
};

/// All stores of this user in `directory`, or in the places that replace it if another user has taken a name there,
/// sorted by name. A directory that cannot be read counts as empty.
[[nodiscard]] TROUPE_EXPORT std::vector<found_store> find_stores(const std::filesystem::path& directory = "/dev/shm");

/// Summarizes the store `name`. If a process has the store open, does the same as `object_store::summary`. Otherwise
/// summarizes what the dead processes have left, with all rows, and cleans nothing up. Never creates a store. Fails
/// with `not_found` if there is no such store, and as object_store::open() does. Waits up to 5 s for processes that are
/// opening or closing the store.
[[nodiscard]] TROUPE_EXPORT std::expected<store_summary, store_error>
inspect(const std::string& name, const std::filesystem::path& directory = "/dev/shm", const summary_query& what = {});

/// Cleans up after dead processes in the store `name`. If a process has the store open, reaps as `object_store::reap`
/// does and returns the number of reaped processes. Otherwise removes the store and returns nullopt. Fails with
/// `not_found` if there is no such store, as object_store::open() does, and with `layout_mismatch` if a directory has
/// the name of one of the store's files; that directory stays. Waits as inspect() does.
[[nodiscard]] TROUPE_EXPORT std::expected<std::optional<std::size_t>, store_error>
clean(const std::string& name, const std::filesystem::path& directory = "/dev/shm");

/// The result of clean_all() for one store.
struct cleaned_store {
  found_store store;
  bool is_removed = false; // False without a `problem`: in use; objects that only dead processes held are freed.
  std::string problem;     // The reason why the store is not clean; empty if it is clean.
};

/// Cleans up after dead processes in all of this user's stores that find_stores() finds. Removes the stores that no
/// process has open, including those of other boots and layout versions.
[[nodiscard]] TROUPE_EXPORT std::vector<cleaned_store> clean_all(const std::filesystem::path& directory = "/dev/shm");

} // namespace troupe::store
