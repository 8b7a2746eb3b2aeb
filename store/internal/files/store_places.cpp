#include <troupe/store/internal/files/store_places.hpp>

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

namespace troupe::store::internal {

namespace {

// A place, or another user's file, may vanish between the look and the take. Then the search restarts.
constexpr auto tries_max = 100;

/// Whether `path` is a directory of this user in which no other user can make files.
[[nodiscard]] bool is_own_folder(const std::filesystem::path& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == ::geteuid()
         && (status.st_mode & 022) == 0;
}

/// The first of the store's names that another user has taken; empty if none.
[[nodiscard]] std::filesystem::path name_of_another_user(const store_paths& paths) {
  for (const auto& path :
       {paths.lock, paths.control, paths.data, temporary_of(paths.control), temporary_of(paths.data)})
    if (is_of_another_user(path))
      return path;
  return {};
}

[[nodiscard]] bool is_locked(const store_paths& paths) {
  return any_lock_on(paths.lock).has_value();
}

/// Unlocks the place, and removes a lock file that only the search has made. Requires: the open lock is held, and no
/// process is attached.
void leave_place(taken_place& place) {
  auto failure = std::error_code{};
  const auto is_left = [&](const std::filesystem::path& path) { // Another user may release its name.
    return std::filesystem::exists(path, failure) && !is_of_another_user(path);
  };
  if (!is_left(place.paths.control) && !is_left(place.paths.data) && place.lock.is_still_named())
    std::filesystem::remove(place.paths.lock, failure);
  place.lock.unlock_opening();
}

[[nodiscard]] std::expected<taken_place, store_error> take(const store_paths& paths, const options& options) {
  auto lock = lock_file::open(paths.lock, options.lock_timeout);
  if (!lock)
    return std::unexpected(lock.error());
  const auto is_in_use = lock->any_attached();
  return taken_place{paths, *std::move(lock), is_in_use};
}

/// Makes the user's own folder if `path` is that folder. Returns whether files can be made there.
[[nodiscard]] bool make_ready(const std::filesystem::path& path, const options& options) {
  if (path == options.directory)
    return true;
  if (path.parent_path() == options.directory)
    (void)::mkdir(path.c_str(), 0700);
  return is_own_folder(path);
}

/// The reaction to other processes that took another place at the same time.
enum class verdict : std::uint8_t { stay, go_there, look_again };

/// Each owner of a place's open lock checks all other places. Thus of two processes that do so at once, at least one
/// sees the other. Then the one in the later place gives up, and the other waits to see whether it did.
[[nodiscard]] std::expected<verdict, store_error>
compare_with_others(const taken_place& mine, std::optional<taken_place>& theirs, const options& options) {
  const auto all = all_paths_of(options);
  if (!all)
    return std::unexpected(all.error());
  auto is_later = false;
  for (const auto& paths : *all) {
    if (paths.lock == mine.paths.lock) {
      is_later = true;
      continue;
    }
    if (!is_locked(paths))
      continue;
    if (!is_later)
      return verdict::look_again;
    auto taken = take(paths, options);
    if (!taken)
      return std::unexpected(taken.error());
    if (taken->is_in_use) {
      theirs.emplace(*std::move(taken));
      return verdict::go_there;
    }
    leave_place(*taken);
  }
  return verdict::stay;
}

/// Takes a place for making the store. Returns nullopt if the search must restart.
[[nodiscard]] std::expected<std::optional<taken_place>, store_error> take_place_to_make(const options& options) {
  auto why = std::string{};
  for (const auto& directory : places_of(options.directory)) {
    if (!make_ready(directory, options)) {
      if (is_of_another_user(directory))
        why += (why.empty() ? "" : ", ") + directory.string();
      continue;
    }
    const auto paths = paths_of(options, directory);
    if (!paths)
      return std::unexpected(paths.error());
    if (const auto taken = name_of_another_user(*paths); !taken.empty()) {
      why += (why.empty() ? "" : ", ") + taken.string();
      continue;
    }
    auto mine = take(*paths, options);
    if (!mine && (is_of_another_user(paths->lock) || !std::filesystem::exists(directory)))
      return std::optional<taken_place>{}; // The name was taken, or the directory removed, just now.
    if (!mine)
      return std::unexpected(mine.error());
    auto theirs = std::optional<taken_place>{};
    const auto what = compare_with_others(*mine, theirs, options);
    if (what && *what == verdict::stay)
      return std::optional{*std::move(mine)};
    leave_place(*mine);
    if (!what)
      return std::unexpected(what.error());
    return theirs; // Or nullopt.
  }
  return std::unexpected(store_error{store_errc::denied, "other users have taken the names that store \"" + options.name
                                                             + "\" needs (" + why
                                                             + "): they or root must remove these files"});
}

} // namespace

std::vector<std::filesystem::path> places_of(const std::filesystem::path& directory) {
  const auto user = std::to_string(::geteuid());
  auto places = std::vector{directory, directory / ("troupe." + user)};
  if (directory == "/dev/shm")
    places.push_back(std::filesystem::path{"/run/user"} / user);
  return places;
}

std::expected<std::vector<store_paths>, store_error> all_paths_of(const options& options) {
  auto all = std::vector<store_paths>{};
  for (const auto& directory : places_of(options.directory)) {
    if (directory != options.directory && !is_own_folder(directory))
      continue;
    auto paths = paths_of(options, directory);
    if (!paths)
      return std::unexpected(paths.error());
    all.push_back(*std::move(paths));
  }
  return all;
}

std::expected<std::optional<taken_place>, store_error> take_place_in_use(const options& options) {
  const auto all = all_paths_of(options);
  if (!all)
    return std::unexpected(all.error());
  for (const auto& paths : *all) {
    if (!is_locked(paths))
      continue;
    auto taken = take(paths, options);
    if (!taken)
      return std::unexpected(taken.error());
    if (taken->is_in_use)
      return std::optional{*std::move(taken)};
    leave_place(*taken); // Another process was closing the store, or failed to open it.
  }
  return std::optional<taken_place>{};
}

std::expected<taken_place, store_error> take_place(const options& options) {
  struct stat status {};
  if (::stat(options.directory.c_str(), &status) != 0)
    return std::unexpected(store_error{store_errc::system_failure, "the store's directory " + quoted(options.directory)
                                                                       + " cannot be used: " + std::strerror(errno)});
  if (!S_ISDIR(status.st_mode))
    return std::unexpected(store_error{store_errc::system_failure,
                                       "the store's directory " + quoted(options.directory) + " is not a directory"});
  for (auto tries = 0; tries < tries_max; ++tries) {
    auto in_use = take_place_in_use(options);
    if (!in_use)
      return std::unexpected(in_use.error());
    if (*in_use)
      return **std::move(in_use);
    auto made = take_place_to_make(options);
    if (!made)
      return std::unexpected(made.error());
    if (*made)
      return **std::move(made);
  }
  return std::unexpected(store_error{store_errc::busy, "store \"" + options.name
                                                           + "\" is constantly opened and closed by other processes"});
}

} // namespace troupe::store::internal
