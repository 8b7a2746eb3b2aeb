// What a directory's writing calls do to its rows.
#pragma once

#include <troupe/framework/cluster/internal/host/records.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <expected>
#include <span>
#include <vector>

namespace troupe::cluster_directories {

/// How many changes are kept for watches that are behind. Each bound alone forgets the oldest ones; the newest revision
/// is always kept.
struct history_bounds {
  std::uint64_t changes = 16'384;
  std::uint64_t bytes = 16 * 1024 * 1024;
};

/// Applies writing calls within one transaction of the caller, each at a revision of its own.
///
/// The caller must write head() before the transaction ends. Every member throws sqlite_failure.
/// Threads: those of the records.
class record_writer {
public:
  static constexpr std::chrono::milliseconds shortest_lease{100}; // What is granted if less is asked for.
  static constexpr std::chrono::milliseconds longest_lease = std::chrono::hours{24};

  /// `now` is of boottime_ms().
  record_writer(records& of, std::uint64_t now, const history_bounds& bounds);

  [[nodiscard]] const head_record& head() const noexcept { return head_; }
  /// The processes that granted the leases.
  [[nodiscard]] std::vector<process_identity> owners() const { return owners_of(leases_); }
  /// Reserves revisions up to this one. Requires: the transaction will be written to the disk before it ends.
  void reserve(std::uint64_t up_to_revision) { head_.reserved = std::max(head_.reserved, up_to_revision); }

  /// Ends every lease, and forgets the changes, because the host was started anew: revisions go on behind the reserved
  /// ones, since those of the last writes may have been lost with the power.
  void begin_boot(const std::string& boot);

  /// Requires: no more than the longest time.
  [[nodiscard]] directory_lease grant(std::uint64_t id, std::chrono::milliseconds time, const process_identity& owner);
  /// Fails with `lease_gone`.
  [[nodiscard]] std::expected<std::chrono::milliseconds, directory_error> keep_alive(std::uint64_t lease);
  /// Removes the lease with its entries, if it is there.
  void end_lease(std::uint64_t lease);
  /// Ends all leases whose time is over, and those of the processes that have ended.
  void end_due_leases(std::span<const process_identity> ended_processes);

  /// Forgets all changes.
  void forget_history();

  [[nodiscard]] std::expected<directory_commit, directory_error> commit(std::span<const directory_condition> conditions,
                                                                        std::span<const directory_write> writes);

private:
  [[nodiscard]] std::expected<void, directory_error> check_leases(std::span<const directory_write> writes);
  void apply(const directory_write& write);
  void remove(std::string_view key);
  void record(directory_change change);
  /// Ends the revision, if it has changes.
  void finish_revision();
  void forget_old_changes();

  records& records_;
  const std::uint64_t now_;
  const history_bounds bounds_;
  head_record head_;
  std::vector<lease_record> leases_;
  std::uint64_t changes_of_revision_ = 0;
};

/// Whether the lease's time is over, or its process is among the ended ones.
[[nodiscard]] bool is_due(const lease_record& lease, std::uint64_t now,
                          std::span<const process_identity> ended_processes);

} // namespace troupe::cluster_directories
