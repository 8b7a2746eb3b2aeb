// The places of a store's files: its directory or, if another user has taken a name there first, a place to which no
// other user can write.
//
// The places and their order depend only on the directory and the user id. They never depend on the environment, which
// differs between a login, sudo and a service. All places are searched for a living store before a new one is made.
#pragma once

#include <troupe/store/internal/files/lock_file.hpp>
#include <troupe/store/internal/files/store_files.hpp>

#include <expected>
#include <filesystem>
#include <optional>
#include <vector>

namespace troupe::store::internal {

/// The directory itself, this user's own folder in it and, if the directory is /dev/shm, /run/user/<uid>.
[[nodiscard]] std::vector<std::filesystem::path> places_of(const std::filesystem::path& directory);

/// The paths in each existing place.
[[nodiscard]] std::expected<std::vector<store_paths>, store_error> all_paths_of(const options& options);

/// A place whose open lock this process has taken.
struct taken_place {
  store_paths paths;
  lock_file lock;
  bool is_in_use = false; // Other processes are attached.
};

/// Takes the place of the store in use. If there is none, returns nullopt and leaves no file behind.
[[nodiscard]] std::expected<std::optional<taken_place>, store_error> take_place_in_use(const options& options);

/// Takes the place of the store in use. If there is none, takes the first place where the store can be made. Two
/// processes that do so at the same time get the same place. Fails with `denied` if other users have taken a name in
/// each place, and with `busy` if other processes constantly open and close the store.
[[nodiscard]] std::expected<taken_place, store_error> take_place(const options& options);

} // namespace troupe::store::internal
