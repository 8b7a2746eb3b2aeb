// The watches of one directory of kind host://.
#pragma once

#include <troupe/framework/cluster/directory.hpp>
#include <troupe/framework/cluster/internal/host/watch_loop.hpp>
#include <troupe/framework/cluster/internal/watching/quiet_thread.hpp>

#include <cstdint>
#include <expected>
#include <memory>
#include <string_view>
#include <utility>

namespace troupe::cluster_directories {

/// Runs the watch loop of a database in a thread, from the first watch on.
///
/// Threads: any.
class host_watches {
public:
  explicit host_watches(std::shared_ptr<host_database> of) : loop_(std::make_shared<watch_loop>(std::move(of))) {}
  host_watches(const host_watches&) = delete;
  host_watches& operator=(const host_watches&) = delete;
  /// Calls close().
  ~host_watches() { close(); }

  /// Fails with `compacted`, `closed`, and as reading does; with `system_failure` if no thread can be started.
  [[nodiscard]] std::expected<std::unique_ptr<directory_watch>, directory_error>
  add(std::string_view prefix, std::uint64_t first_revision, directory_watch_handlers handlers);

  /// Ends every watch with `closed`, and waits for the thread unless a handler calls this.
  void close();

private:
  const std::shared_ptr<watch_loop>
      loop_; // Shared with the thread, which outlives this object if a handler destroys it.
  quiet_thread thread_;
};

} // namespace troupe::cluster_directories
