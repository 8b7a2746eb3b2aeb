// The watches of one directory.
#pragma once

#include <troupe/framework/cluster/directory.hpp>
#include <troupe/framework/cluster/internal/watching/opening_process.hpp>
#include <troupe/framework/cluster/internal/watching/watch_calls.hpp>

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace troupe::cluster_directories {

/// A watch that has not ended.
struct watched {
  watched(std::string_view below, std::uint64_t first_revision, directory_watch_handlers handlers)
      : prefix(below), next(first_revision), calls(std::move(handlers)) {}

  const std::string prefix;
  std::uint64_t next; // The first revision that is not delivered. Once listed, touched by the delivering thread only.
  watch_calls calls;
};

/// The watches that have not ended, until the list is closed.
///
/// Threads: any.
class watch_list {
public:
  /// Returns false after close().
  [[nodiscard]] bool add(const std::shared_ptr<watched>& watch);
  void remove(const std::shared_ptr<watched>& watch);
  /// Removes the watch and calls its on_end.
  void end(const std::shared_ptr<watched>& watch, const directory_error& why);

  [[nodiscard]] std::vector<std::shared_ptr<watched>> all() const;

  void close();
  [[nodiscard]] bool is_closed() const;

  [[nodiscard]] bool is_of_this_process() const noexcept { return process_.is_current(); }

private:
  const opening_process process_;
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::vector<std::shared_ptr<watched>> watches_;
  bool is_closed_ = false;
};

/// What the caller of watch() gets for a watch of the list.
[[nodiscard]] std::unique_ptr<directory_watch> listed_watch(std::shared_ptr<watch_list> in,
                                                            std::shared_ptr<watched> what);

/// Of changes since a revision that is no longer kept.
[[nodiscard]] directory_error compacted_error(std::uint64_t revision);

} // namespace troupe::cluster_directories
