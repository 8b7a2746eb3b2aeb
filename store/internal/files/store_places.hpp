// Where a store's files lie: in its directory, or, where another user has taken a name there first, in a place where
// nobody else can.
//
// The places and their order follow from the directory and the user's id alone, never from the environment, which is
// not the same in a login, under sudo and in a service. All are searched for a living store before one is made.
#pragma once

#include <troupe/store/internal/files/lock_file.hpp>
#include <troupe/store/internal/files/store_files.hpp>

#include <expected>
#include <filesystem>
#include <optional>
#include <vector>

namespace troupe::store::internal {

/// The directory itself, this user's own folder in it, and, if the directory is /dev/shm, /run/user/<uid>.
[[nodiscard]] std::vector<std::filesystem::path> places_of(const std::filesystem::path& directory);

/// The paths in each place that is there.
[[nodiscard]] std::expected<std::vector<store_paths>, store_error> all_paths_of(const options& options);

/// A place whose open lock this process has taken.
struct taken_place {
  store_paths paths;
  lock_file lock;
  bool is_in_use = false; // By others, who are attached.
};

/// Takes the place where the store is in use. If there is none, gives nothing, and has made nothing.
[[nodiscard]] std::expected<std::optional<taken_place>, store_error> take_place_in_use(const options& options);

/// Takes the place where the store is in use, or else the first one where it can be made. Two that do so at the same
/// moment come to the same place. Fails with `denied` where other users have taken a name in each.
[[nodiscard]] std::expected<taken_place, store_error> take_place(const options& options);

} // namespace troupe::store::internal
