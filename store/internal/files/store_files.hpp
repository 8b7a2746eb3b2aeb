// The files of a store: naming, making, mapping and sweeping them.
#pragma once

#include <troupe/store/internal/files/lock_file.hpp>
#include <troupe/store/internal/table/control_view.hpp>
#include <troupe/store/options.hpp>
#include <troupe/store/store_error.hpp>

#include <boost/interprocess/mapped_region.hpp>

#include <expected>
#include <filesystem>
#include <string>

namespace troupe::store::internal {

/// "troupe.<uid>.<name>.<boot id>.v<layout version>.{lock,control,data}"; temporaries end in ".new".
struct store_paths {
  std::string name;
  std::filesystem::path directory;
  std::string every_boot;  // Prefix of all files of this user and store name.
  std::string this_boot;   // Prefix of all such files of this boot.
  std::string this_layout; // Prefix of all such files of this boot and layout version.
  std::string on_disk;     // Prefix in the spill directory, which stores of several directories may share.
  std::filesystem::path lock, control, data;
  std::filesystem::path spill_directory; // Set once the store is open; empty: none.
  bool is_in_own_folder = false; // The directory exists only for this user's stores and is removed with the last one.
};

/// The path of the data file, which lies with the other files or on disk.
[[nodiscard]] std::filesystem::path data_path_of(const control_view& view, const store_paths& paths);

/// The absolute path, in the form in which the control file stores it.
[[nodiscard]] std::filesystem::path absolute_path(const std::filesystem::path& path);
/// The path in quotes, for error texts; an empty path gives "none".
[[nodiscard]] std::string quoted(const std::filesystem::path& path);

/// The name of a file until it is complete.
[[nodiscard]] std::filesystem::path temporary_of(std::filesystem::path path);

/// The paths in `directory`, which is the options' own directory or another place of the store (store_places.hpp).
/// Fails with `invalid_argument` if an option is invalid, or `system_failure` if there is no boot id.
[[nodiscard]] std::expected<store_paths, store_error> paths_of(const options& options,
                                                               const std::filesystem::path& directory);

/// An open file. The destructor closes it, unless its descriptor now belongs to another file.
class owned_file {
public:
  owned_file() = default;
  explicit owned_file(int descriptor) : descriptor_(descriptor), identity_(descriptor) {}
  owned_file(owned_file&& other) noexcept;
  owned_file& operator=(owned_file&& other) noexcept;
  ~owned_file();

  [[nodiscard]] int descriptor() const { return descriptor_; }
  [[nodiscard]] bool is_intact() const { return identity_.is_of(descriptor_); }

private:
  int descriptor_ = -1;
  file_identity identity_;
};

/// A store's files as opened and mapped by a process.
struct mapped_store {
  owned_file control_file;
  owned_file data_file;
  boost::interprocess::mapped_region control;
  boost::interprocess::mapped_region readable; // The data file for readers; a write traps.
  boost::interprocess::mapped_region writable; // A second mapping of the data file, only for builders.
  control_view view;
};

/// Removes files that dead processes of this user left under this name, in the directory and in the spill directory:
/// temporaries, and the store's files unless the store is `in_use`. Also removes files of other boots and layout
/// versions, unless a process has them locked. Files of other users stay. Returns a text about processes that use a
/// store of this name in another layout version; empty if there are none. Fails with `layout_mismatch` if there are such
/// processes and the options say `require_layout`, and as system_failure() does if one of the store's file names is
/// taken by something that cannot be removed. Requires: the open lock is held.
[[nodiscard]] std::expected<std::string, store_error> sweep(const store_paths& paths, const options& options,
                                                            bool in_use);

/// Makes the data file and the control file. Requires: the open lock is held, and neither file exists.
[[nodiscard]] std::expected<void, store_error> make_files(const store_paths& paths, const options& options);

/// Opens, checks and maps the existing files. Requires: the open lock is held.
[[nodiscard]] std::expected<mapped_store, store_error> map_files(const store_paths& paths, const options& options);

/// Removes control, data and lock file, and their temporaries. Fails if one of them stays. Requires: the open lock is
/// held and no process is attached.
std::expected<void, store_error> remove_files(const store_paths& paths);

/// The longest piece for one commit_pages(). At a signal, the system drops the unfinished part of a piece and starts
/// anew.
inline constexpr std::uint64_t commit_piece_bytes = 16u << 20;

/// Gives pages to [from, to) of a file, so that touching them cannot raise SIGBUS. Existing bytes stay. Fails with
/// `full`, with `detached` if the descriptor is lost, and with `system_failure` if the file system cannot allocate.
/// Requires: the range has at most commit_piece_bytes.
[[nodiscard]] std::expected<void, store_error> commit_pages(const owned_file& file, std::uint64_t from,
                                                            std::uint64_t to);

/// The file's allocated bytes, which may be fewer than its length. 0 if unknown.
[[nodiscard]] std::uint64_t bytes_taken(const owned_file& file);

/// A lower bound of the bytes in [from, to) that have no pages yet. It is not exact, because the system does not tell
/// where allocated but unwritten pages lie. Slow for a large file.
[[nodiscard]] std::uint64_t least_bytes_without_pages(const owned_file& file, std::uint64_t from, std::uint64_t to);
/// Like bytes_free() of capacity.hpp; nullopt if unknown.
[[nodiscard]] std::optional<std::uint64_t> bytes_free(const owned_file& file);

/// A random number, never 0.
[[nodiscard]] std::uint64_t random_number();

} // namespace troupe::store::internal
