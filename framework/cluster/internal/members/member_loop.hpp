// What the thread of a read-only directory does.
#pragma once

#include <troupe/framework/cluster/internal/members/member_history.hpp>
#include <troupe/framework/cluster/internal/members/member_source.hpp>
#include <troupe/framework/cluster/internal/watching/wake_descriptor.hpp>
#include <troupe/framework/cluster/internal/watching/watch_list.hpp>

#include <chrono>
#include <expected>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace troupe::cluster_directories {

struct member_directory_settings {
  std::string shown_address;
  std::string kind;                                       // "static" or "dns".
  std::function<void(const directory_error&)> on_trouble; // See directory_options.
};

/// Looks at a source of members again and again, and delivers the changes to watches.
///
/// Threads: any; one of them calls begin(), then run().
class member_loop {
public:
  member_loop(member_directory_settings settings, std::unique_ptr<member_source> source)
      : settings_(std::move(settings)), source_(std::move(source)) {}

  [[nodiscard]] const member_directory_settings& settings() const noexcept { return settings_; }

  /// Looks for the first time. Fails if the source has no list.
  [[nodiscard]] std::expected<void, directory_error> begin();
  void run();

  /// Why the last look has found no list.
  [[nodiscard]] std::optional<directory_error> trouble() const;
  /// Fails with `closed`.
  [[nodiscard]] std::expected<directory_listing, directory_error> list(std::string_view prefix) const;
  /// Fails with `compacted` and `closed`.
  [[nodiscard]] std::expected<std::unique_ptr<directory_watch>, directory_error>
  watch(std::string_view prefix, std::uint64_t first_revision, directory_watch_handlers handlers);

  /// Lets run() end every watch with `closed` and return.
  void close();
  [[nodiscard]] directory_error closed_error() const;

private:
  void deliver(const std::shared_ptr<watched>& watch);
  [[nodiscard]] bool wait(std::chrono::steady_clock::time_point next_look);
  [[nodiscard]] std::chrono::milliseconds look();
  void tell(const std::optional<directory_error>& trouble);

  const member_directory_settings settings_;
  const std::shared_ptr<watch_list> watches_ = std::make_shared<watch_list>();
  const wake_descriptor wakes_; // After a new watch.
  const wake_descriptor stops_; // After close().
  // Touched by begin() and run() only.
  const std::unique_ptr<member_source> source_;
  std::chrono::milliseconds first_pause_{};

  mutable std::mutex mutex_;
  // Guarded by mutex_.
  member_history history_;
  std::optional<directory_error> trouble_; // The last one that was told, unless it is over.
};

} // namespace troupe::cluster_directories
