// Failed system calls as errors.
#pragma once

#include <troupe/base/sizes.hpp>
#include <troupe/store/store_error.hpp>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <expected>
#include <filesystem>
#include <string>

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

namespace troupe::store::internal {

/// Makes an error from errno. Missing rights give `denied`, missing space gives `full`. If another user took the name
/// first (any user may, in a directory like /dev/shm), the error is `denied`, and its text names the owner. A directory
/// of that name gives `layout_mismatch`. All other failures give `system_failure`.
[[nodiscard]] inline store_error system_failure(const char* call, const std::filesystem::path& path) {
  const auto reason = errno;
  struct stat status {};
  if ((reason == EEXIST || reason == EACCES || reason == EPERM) && ::lstat(path.c_str(), &status) == 0
      && status.st_uid != ::geteuid())
    return {store_errc::denied, path.string() + " belongs to user " + std::to_string(status.st_uid)
                                    + ", who took this name first; that user or root must remove it"};
  const auto is_named = ::lstat(path.c_str(), &status) == 0;
  if ((reason == EEXIST || reason == EISDIR) && is_named && S_ISDIR(status.st_mode))
    return {store_errc::layout_mismatch,
            path.string() + " is a directory, but the store needs a file there; remove it"};
  if (reason == ELOOP && is_named && S_ISLNK(status.st_mode))
    return {store_errc::denied, path.string() + " is a symbolic link, but the store needs a file there; remove it"};
  auto code = store_errc::system_failure;
  const auto was_given_back = reason == EEXIST && !is_named; // Another user had the name until just now.
  if (reason == EACCES || reason == EPERM || reason == ELOOP || was_given_back)
    code = store_errc::denied;
  else if (reason == ENOSPC || reason == EDQUOT || reason == ENOMEM)
    code = store_errc::full;
  return {code, std::string(call) + " of " + path.string() + " failed: " + std::strerror(reason)};
}

/// As system_failure(), for files of the spill directory: missing space gives `disk_full`.
[[nodiscard]] inline store_error disk_failure(const char* call, const std::filesystem::path& path) {
  const auto is_full = errno == ENOSPC || errno == EDQUOT;
  auto failed = system_failure(call, path);
  return is_full && failed.code() == store_errc::full ? store_error{store_errc::disk_full, failed.message()} : failed;
}

/// The largest file that this process may make. A write beyond that raises a signal that ends the process.
[[nodiscard]] inline std::uint64_t file_bytes_max() {
  struct rlimit limit {};
  return ::getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ? UINT64_MAX : limit.rlim_cur;
}

/// Fails with `full` if a file must not become that large.
[[nodiscard]] inline std::expected<void, store_error> check_file_limit(std::uint64_t bytes,
                                                                       const std::filesystem::path& path) {
  if (bytes <= file_bytes_max())
    return {};
  return std::unexpected(store_error{
      store_errc::full, path.string() + " needs " + grouped(bytes)
                            + " bytes, and the file size limit of this process is " + grouped(file_bytes_max())
                            + "; raise the limit (ulimit -f, RLIMIT_FSIZE), or lower capacity_bytes"});
}

} // namespace troupe::store::internal
