#include <troupe/framework/cluster/internal/host/host_errors.hpp>

#include <troupe/base/text.hpp>
#include <troupe/framework/cluster/internal/host/lock_holders.hpp>

#include <cerrno>
#include <cstring>
#include <string>

#include <sqlite3.h>

namespace troupe::cluster_directories {

namespace {

using enum directory_errc;

// The bytes of the -shm file on which SQLite locks; see "Locks" in its document on the WAL-index format.
constexpr std::uint64_t write_lock_byte = 120;
constexpr std::uint64_t first_lock_byte = 120;
constexpr std::uint64_t last_lock_byte = 128;

std::string shown(const std::string& path) {
  return '"' + one_line(path, 256) + '"';
}

std::string reason_of(const sqlite_failure& failure) {
  auto reason = failure.text;
  if (failure.system_errno != 0)
    reason += std::string{" ("} + std::strerror(failure.system_errno) + ')';
  return reason;
}

directory_error busy_error(const std::string& path, std::chrono::milliseconds timeout) {
  auto holders = lock_holders_of(path + "-shm", write_lock_byte, write_lock_byte);
  if (holders.empty())
    holders = lock_holders_of(path + "-shm", first_lock_byte, last_lock_byte);
  if (holders.empty())
    holders = "another process, which is not known";
  return {busy, "the lock of " + shown(path) + " was not free within " + std::to_string(timeout.count())
                    + " ms; it is held by " + holders + "; continue or end that process"};
}

bool is_out_of_room(const sqlite_failure& failure) {
  const auto kind = failure.code & 0xff;
  return kind == SQLITE_FULL
         || (kind == SQLITE_IOERR
             && (failure.system_errno == ENOSPC || failure.system_errno == EDQUOT || failure.system_errno == EFBIG));
}

} // namespace

bool is_busy(const sqlite_failure& failure) {
  const auto kind = failure.code & 0xff;
  return kind == SQLITE_BUSY || kind == SQLITE_LOCKED || kind == SQLITE_PROTOCOL;
}

bool is_out_of_pages(const sqlite_failure& failure) {
  return (failure.code & 0xff) == SQLITE_FULL && failure.system_errno == 0;
}

directory_error error_of(const sqlite_failure& failure, const std::string& path, std::chrono::milliseconds timeout) {
  if (is_busy(failure))
    return busy_error(path, timeout);
  if (is_out_of_room(failure))
    return {full, "there is no room for the write to " + shown(path) + ": " + reason_of(failure)
                      + "; make room on its disk, or remove entries"};
  switch (failure.code & 0xff) {
  case SQLITE_NOTADB:
    return foreign_error(path);
  case SQLITE_CORRUPT:
    return {system_failure, shown(path) + " is damaged: " + reason_of(failure)
                                + "; end all processes that use it, then remove it with its files -wal and -shm: a new "
                                  "directory has another identity, and its revisions begin anew"};
  case SQLITE_READONLY:
    if (failure.code == SQLITE_READONLY_DBMOVED)
      return moved_error(path);
    return {system_failure, shown(path) + " cannot be written: " + reason_of(failure)};
  default:
    return {system_failure, "a call for " + shown(path) + " failed: " + reason_of(failure)};
  }
}

directory_error closed_error(const std::string& path) {
  return {closed, "the directory in " + shown(path) + " was closed"};
}

directory_error moved_error(const std::string& path) {
  return {another_cluster, shown(path)
                               + " was removed or replaced while this process had it open; the directory there "
                                 "now is another one: close this one and open it again"};
}

directory_error foreign_error(const std::string& path) {
  return {version_mismatch, shown(path) + " is not the database of a directory; remove it, or use another name"};
}

directory_error newer_error(const std::string& path) {
  return {version_mismatch, shown(path)
                                + " was written by another version of this program, and its tables are not "
                                  "those of version 1; use the same version in all processes, or another name"};
}

directory_error long_log_error(const std::string& path, int pages) {
  const auto holders = lock_holders_of(path + "-shm", first_lock_byte, last_lock_byte - 1);
  return {busy, "the write-ahead log of " + shown(path) + " has " + std::to_string(pages)
                    + " pages and cannot be written back, because " + (holders.empty() ? "a process" : holders)
                    + " is reading; continue or end that process"};
}

} // namespace troupe::cluster_directories
