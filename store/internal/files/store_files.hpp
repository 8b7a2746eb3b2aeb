// The files of a store: their names, making them, mapping them, sweeping leftovers.
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
  std::string every_boot;  // Prefix of all files of this user and name ...
  std::string this_boot;   // ... of those of this boot ...
  std::string this_layout; // ... and of those of this layout version.
  std::string on_disk;     // The same in the spill directory, where stores of several directories may meet.
  std::filesystem::path lock, control, data;
  std::filesystem::path spill_directory; // Once the store is open; empty: none.
  bool is_in_own_folder = false;         // The directory was made for this user's stores, and goes with the last one.
};

/// Where the data file lies: with the others, or on disk.
[[nodiscard]] std::filesystem::path data_path_of(const control_view& view, const store_paths& paths);

/// As it stands in the control file.
[[nodiscard]] std::filesystem::path absolute_path(const std::filesystem::path& path);
/// For texts; an empty one is "none".
[[nodiscard]] std::string quoted(const std::filesystem::path& path);

/// As a file is called until it is complete.
[[nodiscard]] std::filesystem::path temporary_of(std::filesystem::path path);

/// In that directory, which is the options' own or another of the store's places (store_places.hpp). Fails with
/// `invalid_argument` when the name is none, `system_failure` when there is no boot id.
[[nodiscard]] std::expected<store_paths, store_error> paths_of(const options& options,
                                                               const std::filesystem::path& directory);

/// An open file that is closed at the end, unless its descriptor has become somebody else's.
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

/// What a process has open and mapped of a store.
struct mapped_store {
  owned_file control_file;
  owned_file data_file;
  boost::interprocess::mapped_region control;
  boost::interprocess::mapped_region readable; // The data file for everybody: writing traps.
  boost::interprocess::mapped_region writable; // The same once more, only for builders.
  control_view view;
};

/// Removes what dead processes of this user left under this name, in the directory and where they spilled to:
/// temporaries, and the files themselves when nobody is attached (`in_use`); also of other boots and of other layout
/// versions, unless a process has them locked. Files of other users stay. Requires: the open lock is held. Fails with
/// `layout_mismatch` when processes with another layout version are at work, and as opening does where something that
/// cannot be removed has the name of one of the store's files.
[[nodiscard]] std::expected<void, store_error> sweep(const store_paths& paths, const options& options, bool in_use);

/// Makes data and control file. Requires: the open lock is held, neither exists.
[[nodiscard]] std::expected<void, store_error> make_files(const store_paths& paths, const options& options);

/// Opens, checks and maps what is there. Requires: the open lock is held.
[[nodiscard]] std::expected<mapped_store, store_error> map_files(const store_paths& paths, const options& options);

/// Removes control, data and lock file, and their temporaries. Fails where one of them stays. Requires: the open lock
/// is held and nobody is attached.
std::expected<void, store_error> remove_files(const store_paths& paths);

/// Longest piece to give to commit_pages(): a signal makes the system give up what it has of a piece and start anew.
inline constexpr std::uint64_t commit_piece_bytes = 16u << 20;

/// Gives pages to [from, to) of a file, so that touching them cannot be SIGBUS; bytes that are there stay. Fails with
/// `full`, and with `system_failure` where the file system cannot do it. Requires: at most commit_piece_bytes.
[[nodiscard]] std::expected<void, store_error> commit_pages(const owned_file& file, std::uint64_t from,
                                                            std::uint64_t to);

/// What the file takes of the system, which may be less than its length. 0 where the system does not say.
[[nodiscard]] std::uint64_t bytes_taken(const owned_file& file);

/// So much of [from, to) at least has no pages yet: the system does not say where those are that nobody has written.
/// Slow for a large file.
[[nodiscard]] std::uint64_t least_bytes_without_pages(const owned_file& file, std::uint64_t from, std::uint64_t to);
/// As capacity.hpp has it; nothing where the system does not say.
[[nodiscard]] std::optional<std::uint64_t> bytes_free(const owned_file& file);

/// Random, never 0.
[[nodiscard]] std::uint64_t random_number();

} // namespace troupe::store::internal
