// The watches of one directory.
#pragma once

#include <troupe/framework/cluster/internal/etcd/watch_stream.hpp>
#include <troupe/framework/cluster/internal/watching/quiet_thread.hpp>

#include <chrono>
#include <cstdint>
#include <expected>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace troupe::cluster_directories {

/// Runs all watches of a directory in one thread.
///
/// A watch whose stream is lost goes on at the same endpoint or at another one, from the revision that it has got to.
/// All watches follow the endpoint that answers calls: thus keep-alives find out whether it is frozen, without further
/// requests.
///
/// Threads: any. Lifetime: shared with the thread and with each watch.
class etcd_watches : public std::enable_shared_from_this<etcd_watches> {
public:
  [[nodiscard]] static std::expected<std::shared_ptr<etcd_watches>, directory_error>
  make(std::shared_ptr<etcd_caller> caller, std::shared_ptr<cluster_pin> pin, std::string root);

  /// Fails with `closed` and `system_failure`.
  [[nodiscard]] std::expected<std::unique_ptr<directory_watch>, directory_error>
  add(std::string_view prefix, std::uint64_t first_revision, directory_watch_handlers handlers);

  [[nodiscard]] bool is_of_this_process() const noexcept { return caller_->is_of_this_process(); }

  /// Makes the thread look at the endpoints, and for watches that were destroyed.
  void wake();

  /// Ends the watches that there are.
  void end_all(const directory_error& why);

  /// Ends every watch with `closed`, and waits for the thread unless a handler calls this.
  void close();

private:
  using clock = std::chrono::steady_clock;

  struct followed {
    std::unique_ptr<watch_stream> stream;
    std::uint32_t losses = 0; // Since etcd last created the watch.
    std::optional<clock::time_point> connects_at;
  };

  etcd_watches(std::shared_ptr<etcd_caller> caller, std::shared_ptr<cluster_pin> pin, std::string root,
               curl_multi multi);

  void run();
  /// Returns false if the thread has to end.
  [[nodiscard]] bool take_orders();
  void end_streams(const directory_error& why);
  void exchange();
  void look_after(followed& watch, std::optional<CURLcode> result);
  /// Whether calls have found another endpoint.
  [[nodiscard]] bool has_to_move(const followed& watch) const;
  void connect(followed& watch);
  void lose(followed& watch);
  [[nodiscard]] std::chrono::milliseconds time_to_wait() const;

  const std::shared_ptr<etcd_caller> caller_;
  const std::shared_ptr<cluster_pin> pin_;
  const std::string root_;
  const curl_multi multi_;
  std::mutex mutex_;
  // Guarded by mutex_.
  std::vector<std::unique_ptr<watch_stream>> added_;
  std::optional<directory_error> end_all_;
  bool is_closed_ = false;
  // Of the thread.
  std::list<followed> watches_;
  // Of any thread.
  quiet_thread thread_;
};

} // namespace troupe::cluster_directories
