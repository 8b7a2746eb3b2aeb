// The recordings of this node for other nodes.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <map>
#include <mutex>
#include <vector>

#include <troupe/framework/internal/tape/link_recording.hpp>
#include <troupe/framework/node_errc.hpp>
#include <troupe/framework/remote_recording.hpp>

namespace troupe::internal {

/// Keeps what is recorded for observers until they take it. An observer that takes nothing for `lease` has ended.
///
/// Threads: any.
class remote_recordings {
public:
  static constexpr std::size_t recordings_max = 4;
  static constexpr std::uint64_t queue_bytes_min = 512 * 1024; // The largest packet fits.
  static constexpr std::uint64_t queue_bytes_max = 64 * 1024 * 1024;
  static constexpr std::chrono::seconds lease{10};

  remote_recordings() = default;
  /// With another lease, for tests.
  explicit remote_recordings(std::chrono::nanoseconds lease_of_test) : lease_(lease_of_test) {}

  struct begun {
    std::uint64_t number = 0;
    recording_target target;
  };
  /// Fails with `link_busy` if there are too many.
  [[nodiscard]] std::expected<begun, node_error> begin(const recording_query& query);
  /// What has come since the last call. Fails with `not_found` if the recording has ended.
  [[nodiscard]] std::expected<recording_part, node_error> take(std::uint64_t number);
  /// As take(), for the last time.
  [[nodiscard]] std::expected<recording_part, node_error> end(std::uint64_t number);

  /// For the recording of a new link.
  [[nodiscard]] std::vector<recording_target> targets() const;
  /// Ends all.
  void end();

private:
  void drop_ended();

  const std::chrono::nanoseconds lease_ = lease;
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::map<std::uint64_t, recording_target> open_;
};

} // namespace troupe::internal
