// Looking at stores from outside: which there are, what is in them, what dead processes have left.
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

/// A store of this user whose files lie in a directory.
struct found_store {
  std::string name;
  std::uint32_t layout_version = 0;
  bool is_of_this_boot = false;
  bool is_of_this_layout = false;  // Else this program can say no more about it.
  std::optional<pid_t> in_use_by;  // A process that is attached; nothing when all are dead.
  std::size_t memory_bytes = 0;    // What its files in the directory take.
  std::filesystem::path directory; // Where they lie.
  std::string files;               // What their names begin with.
};

/// All of them, by name.
[[nodiscard]] TROUPE_EXPORT std::vector<found_store> find_stores(const std::filesystem::path& directory = "/dev/shm");

/// What is in the store of that name: as `object_store::summary` gives it while it is in use, else what its dead
/// processes have left, unchanged and with all rows. Makes no store. Fails with `not_found` when there is none, and as
/// `open` does.
[[nodiscard]] TROUPE_EXPORT std::expected<store_summary, store_error>
inspect(const std::string& name, const std::filesystem::path& directory = "/dev/shm", const summary_query& what = {});

/// Clears up after dead processes: while the store is in use as `object_store::reap` does, else all of it is removed.
/// Gives how many processes were cleared up after, or nothing when the store is gone. Fails with `not_found`, and as
/// `open` does; `layout_mismatch` where a directory has the name of one of its files, which stays.
[[nodiscard]] TROUPE_EXPORT std::expected<std::optional<std::size_t>, store_error>
clean(const std::string& name, const std::filesystem::path& directory = "/dev/shm");

/// What became of a store.
struct cleaned_store {
  found_store store;
  bool is_removed = false; // Else it is in use, and what dead processes held in it is free.
  std::string problem;     // Why it is not clean; empty: it is.
};

/// Clears up after dead processes in all of this user's stores: those that nobody has open are removed, also those of
/// other boots and layout versions.
[[nodiscard]] TROUPE_EXPORT std::vector<cleaned_store> clean_all(const std::filesystem::path& directory = "/dev/shm");

} // namespace troupe::store
