// Where the names of a cluster live: the interface of every kind of directory.
#pragma once

#include <troupe/base/export.hpp>
#include <troupe/framework/cluster/directory_errc.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

/// A key with its value, as the directory had it at one revision.
struct directory_entry {
  std::string key;
  std::string value;                  // Any bytes.
  std::uint64_t created_revision = 0; // Of the change that made the key. It rises each time that the key is made anew.
  std::uint64_t changed_revision = 0; // Of the last change.
  std::uint64_t lease = 0;            // The entry is removed when this lease ends; 0 is no lease.

  friend bool operator==(const directory_entry&, const directory_entry&) = default;
};

struct directory_listing {
  std::uint64_t revision = 0;           // Watch from revision + 1 to miss no change.
  std::vector<directory_entry> entries; // In the order of their keys, compared as bytes.
};

struct directory_lease {
  std::uint64_t id = 0;
  std::chrono::milliseconds time{}; // What the directory granted; it may differ from what was asked for.
};

/// What must hold for a commit to be applied.
struct directory_condition {
  enum class kind : std::uint8_t {
    absent,     // There is no such key.
    created_at, // The key exists, and its created_revision is `revision`.
    changed_at, // The key exists, and its changed_revision is `revision`.
  };

  std::string key;
  kind what = kind::absent;
  std::uint64_t revision = 0;
};

/// One write of a commit.
struct directory_write {
  enum class kind : std::uint8_t { put, remove };

  std::string key;
  kind what = kind::put;
  std::string value;       // For put.
  std::uint64_t lease = 0; // For put; 0 is no lease.
};

struct directory_commit {
  bool is_applied = false;            // False if a condition did not hold; then nothing was written.
  std::uint64_t revision = 0;         // Of the writes; if nothing was written, of the reading.
  std::vector<directory_entry> found; // If a condition did not hold: the entries of the conditions' keys that exist.
};

/// A change that a watch saw.
struct directory_change {
  enum class kind : std::uint8_t { put, removed };

  kind what = kind::put;
  directory_entry entry; // Of a removed one: the key, and the revision of its removal as changed_revision.
};

/// Delivers changes until it is destroyed.
///
/// Lifetime: the destructor waits for a handler that runs, unless that handler calls it.
class TROUPE_EXPORT directory_watch {
public:
  directory_watch(const directory_watch&) = delete;
  directory_watch& operator=(const directory_watch&) = delete;
  virtual ~directory_watch() = default;

protected:
  directory_watch() = default;
};

struct directory_watch_handlers {
  /// Called with the changes of at least one revision, complete and in order, and with the last of these revisions.
  std::function<void(std::span<const directory_change>, std::uint64_t revision)> on_changes;
  /// Called at most once, as the last call: the watch has ended. Changes after the last revision are not lost in the
  /// directory: watch from there anew, or list first if the code is `compacted`.
  std::function<void(const directory_error&)> on_end;
};

/// Keeps a cluster's entries: small values under keys, some of which are removed when the lease of their owner ends.
/// Each change has a revision, and revisions rise over the whole life of the directory, also when every process that
/// uses it has ended.
///
/// The model is that of etcd v3 (Kubernetes' and CoreOS' key-value store): revisions, leases, transactions, watches.
///
/// Threads: every member may be called from any thread. Calls block, at most for the time that the directory was opened
/// with, and therefore do not belong in a handler of an actor. Handlers of watches run on threads of the directory.
/// Failures: where a call does not say more, it may fail with `unavailable`, `busy`, `closed`, `refused`,
/// `another_cluster`, `version_mismatch`, `invalid_argument` and `system_failure`. After `unavailable` and `busy` a
/// write may or may not have been applied.
class TROUPE_EXPORT directory {
public:
  /// Bounds for every kind of directory; more fails with `invalid_argument`.
  static constexpr std::size_t key_bytes_max = 1'024; // At least 1.
  static constexpr std::size_t value_bytes_max = 65'536;
  static constexpr std::size_t writes_max = 128;             // Conditions and writes of one commit, each.
  static constexpr std::size_t commit_bytes_max = 1'048'576; // Keys and values of one commit, together.

  directory(const directory&) = delete;
  directory& operator=(const directory&) = delete;
  virtual ~directory() = default; // Calls close().

  /// The address without user and password, for logs and errors.
  [[nodiscard]] virtual const std::string& shown_address() const noexcept = 0;

  /// A text that no other directory has. Numbers of two directories cannot be compared.
  [[nodiscard]] virtual std::expected<std::string, directory_error> identity() = 0;

  /// False if the directory finds members only: then list() and watch() are all that does not fail with `read_only`.
  [[nodiscard]] virtual bool is_writable() const noexcept = 0;

  /// For static and dns: why the list of members cannot be read now, so that the last good one, or none, is in force.
  /// nullopt: the list is the current one. Also nullopt for writable directories, whose calls fail instead.
  [[nodiscard]] virtual std::optional<directory_error> trouble() const { return std::nullopt; }

  /// Reads every entry whose key begins with `prefix`, all at one revision.
  [[nodiscard]] virtual std::expected<directory_listing, directory_error> list(std::string_view prefix) = 0;

  /// Grants a lease that ends unless it is kept alive within `time` again and again. Fails with `full`.
  [[nodiscard]] virtual std::expected<directory_lease, directory_error> grant(std::chrono::milliseconds time) = 0;

  /// Begins the lease's time anew, and gives it. Fails with `lease_gone`.
  [[nodiscard]] virtual std::expected<std::chrono::milliseconds, directory_error> keep_alive(std::uint64_t lease) = 0;

  /// Ends the lease and removes its entries. A lease that is gone is no error.
  virtual std::expected<void, directory_error> revoke(std::uint64_t lease) = 0;

  /// Applies all writes at one revision if every condition holds, and none otherwise. No two conditions, and no two
  /// writes, may name the same key. Fails with `lease_gone` and `full`.
  [[nodiscard]] virtual std::expected<directory_commit, directory_error>
  commit(std::span<const directory_condition> conditions, std::span<const directory_write> writes) = 0;

  /// Delivers every change to a key that begins with `prefix`, from `first_revision` on. Fails with `compacted`, here
  /// or later through `on_end`.
  [[nodiscard]] virtual std::expected<std::unique_ptr<directory_watch>, directory_error>
  watch(std::string_view prefix, std::uint64_t first_revision, directory_watch_handlers handlers) = 0;

  /// Ends every watch, and calls under way, with `closed`. Leases stay until they end. Calling it again does nothing.
  virtual void close() = 0;

protected:
  directory() = default;
};

struct directory_options {
  /// How long a call may take, over all endpoints that it tries.
  std::chrono::milliseconds timeout{3'000};

  // For etcd. An address cannot contain it. Read it from a file of mode 0600.
  std::string user;
  std::string password;
  // Trusted authorities, PEM. If this or certificate_file is set, every endpoint must speak TLS; else no TLS is used.
  std::string ca_file;
  std::string certificate_file; // Of this client, PEM.
  std::string key_file;         // Of this client, PEM.

  /// For host: false: a directory that no process has made is not made, and open_directory() fails with `bad_address`
  /// and names those that exist. For programs that only look.
  bool may_make = true;

  // For dns: name servers instead of those of /etc/resolv.conf, as in "127.0.0.1:8600,[fd00::1]:53". They are also
  // asked for the addresses of the targets of SRV records.
  std::string name_servers;

  /// For static and dns: called if the list of members cannot be read and the last good one stays in force. Called once
  /// for each reason, on a thread of the directory.
  std::function<void(const directory_error&)> on_trouble;
};

/// Opens the directory at `address`; its kind is the address' first part:
/// - `etcd://HOST:PORT[,HOST:PORT...]/PREFIX`: etcd 3.4 or newer. Every key lies below PREFIX.
/// - `host://NAME`: for processes of one user on one host, without a server.
/// - `static://FILE`: a fixed list of members, read again when the file changes; read-only.
/// - `dns://NAME:PORT`: the A and AAAA records of NAME; `dns://NAME`: its SRV records. Read-only.
/// - `dns+tls://...`: the same, with members at tls:// addresses instead of tcp://.
/// Fails with `bad_address`, `refused`, `version_mismatch`, `unavailable`, `busy` and `system_failure`.
[[nodiscard]] TROUPE_EXPORT std::expected<std::shared_ptr<directory>, directory_error>
open_directory(std::string_view address, const directory_options& options = {});

} // namespace troupe
