// The transactions of one database file.
#pragma once

#include <troupe/framework/cluster/directory_errc.hpp>
#include <troupe/framework/cluster/internal/host/call_deadline.hpp>
#include <troupe/framework/cluster/internal/host/forking.hpp>
#include <troupe/framework/cluster/internal/host/process_watch.hpp>
#include <troupe/framework/cluster/internal/host/record_writer.hpp>
#include <troupe/framework/cluster/internal/host/records.hpp>
#include <troupe/framework/cluster/internal/host/turns.hpp>
#include <troupe/framework/cluster/internal/watching/opening_process.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <string>

namespace troupe::cluster_directories {

struct host_settings {
  std::string path; // The database file.
  std::string boot; // Another text after each start of the host.
  process_identity self;
  std::chrono::milliseconds timeout{3'000};
  history_bounds history;
  std::uint64_t reserved_revisions = 65'536; // Reserved on the disk at once.
  std::uint64_t pages_max = 65'536;          // Of the file, 4 KiB each.
  int log_pages_max = 16'384;                // Of the write-ahead log.
};

enum class write_safety : std::uint8_t {
  process_end, // Survives the end of every process.
  power_loss,  // On the disk before the call returns.
};

/// Opens a database file, and runs transactions on it: one connection reads, another one writes, so that readers never
/// wait for writers of any process.
///
/// Threads: any. A process that was forked after the opening must not call anything but opener().
class host_database {
public:
  /// Makes the tables if the file is empty. Fails with `busy`, `full`, `version_mismatch`, `refused` and
  /// `system_failure`.
  [[nodiscard]] static std::expected<std::unique_ptr<host_database>, directory_error> open(host_settings settings);
  host_database(const host_database&) = delete;
  host_database& operator=(const host_database&) = delete;
  /// Calls close().
  ~host_database();

  [[nodiscard]] const std::string& path() const noexcept { return settings_.path; }
  [[nodiscard]] const host_settings& settings() const noexcept { return settings_; }
  [[nodiscard]] const std::string& identity() const noexcept { return identity_; }
  [[nodiscard]] process_watch& processes() noexcept { return processes_; }
  [[nodiscard]] const opening_process& opener() const noexcept { return opener_; }

  /// Runs `work` on one consistent state. Failures: as for every call of a directory.
  [[nodiscard]] std::expected<void, directory_error> read(const call_deadline& deadline,
                                                          const std::function<void(records&)>& work);

  /// Ends the leases that are due, then runs `work`, all in one transaction. `work` may run twice, the first time
  /// without effect. Tells all watches of the host, if there was a change or `is_told` is set. Fails with `full`.
  [[nodiscard]] std::expected<void, directory_error> write(const call_deadline& deadline, write_safety safety,
                                                           const std::function<void(record_writer&)>& work,
                                                           bool is_told = false);

  /// Ends calls under way with `closed`, and closes the file. Calling it again does nothing.
  void close();

private:
  struct session;

  explicit host_database(host_settings settings);
  void connect(const call_deadline& deadline);
  void prepare_tables();
  void make_first_state();
  void check_boot(const call_deadline& deadline);
  [[nodiscard]] std::expected<void, directory_error> run(session& in, const call_deadline& deadline,
                                                         const std::function<void()>& transaction);
  void write_until_reserved(write_safety safety, const std::function<void(record_writer&)>& work, bool is_told);
  void forget_history();
  [[nodiscard]] bool write_once(write_safety safety, const std::function<void(record_writer&)>& work, bool is_told);
  void keep_log_short();

  const host_settings settings_;
  const opening_process opener_;
  const open_database_count counted_;
  process_watch processes_;
  std::string identity_; // Set by open().
  std::atomic<bool> is_closed_{false};
  const std::unique_ptr<session> reading_;
  const std::unique_ptr<session> writing_;
};

} // namespace troupe::cluster_directories
