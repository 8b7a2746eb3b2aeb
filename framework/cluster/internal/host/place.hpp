// Where the database files of this user's directories are.
#pragma once

#include <troupe/framework/cluster/directory_errc.hpp>

#include <expected>
#include <string>
#include <string_view>

namespace troupe::cluster_directories {

/// The folder for database files, which only the user can enter: $TROUPE_STATE_DIR/clusters,
/// $XDG_STATE_HOME/troupe/clusters, or $HOME/.local/state/troupe/clusters. Makes it if there is none and `may_make`,
/// and returns its path without symbolic links. Fails with `refused` if it belongs to another user, is a symbolic link,
/// is open to others or lies on a network file system; with `bad_address` if no variable names a folder, or there is
/// none.
[[nodiscard]] std::expected<std::string, directory_error> state_folder(bool may_make = true);

/// The file of the directory `name` in the folder. Makes an empty one if there is none and `may_make`. Fails with
/// `bad_address` if the name is not possible, or there is no file, naming those that exist; with `refused` if the file
/// belongs to another user, is no regular file or is open to others.
///
/// Opens no existing file: closing it would drop the locks that this process has on it.
[[nodiscard]] std::expected<std::string, directory_error> database_file(const std::string& folder,
                                                                        std::string_view name, bool may_make = true);

} // namespace troupe::cluster_directories
